// Part of the runtime interface; all of it is in acl.h.
#pragma once

#include "acl/acl.h"
