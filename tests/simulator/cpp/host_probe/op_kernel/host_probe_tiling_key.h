#pragma once

#include "ascendc/host_api/tiling/template_argument.h"

// Two parameters: `kind` by its position in a list and a range, `add` by value; kind 9 goes without `add` only.
ASCENDC_TPL_ARGS_DECL(HostProbe, ASCENDC_TPL_UINT_DECL(kind, 4, ASCENDC_TPL_UI_MIX, 1, 2, 4, 9, 7),
                      ASCENDC_TPL_BOOL_DECL(add, 0, 1), );

ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIV_ONLY),
                                     ASCENDC_TPL_UINT_SEL(kind, ASCENDC_TPL_UI_RANGE, 1, 2, 4),
                                     ASCENDC_TPL_BOOL_SEL(add, 0, 1)),
                ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(kind, ASCENDC_TPL_UI_LIST, 9),
                                     ASCENDC_TPL_BOOL_SEL(add, 0)), );
