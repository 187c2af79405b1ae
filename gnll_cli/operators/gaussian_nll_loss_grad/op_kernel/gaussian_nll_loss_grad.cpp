// The kernel function: one call per core. DTYPE_INPUT is the type of the prototype's column that is being built.
#include "gaussian_nll_loss_grad.h"

extern "C" __global__ __aicore__ void gaussian_nll_loss_grad(GM_ADDR gradOutput, GM_ADDR input, GM_ADDR target,
                                                             GM_ADDR var, GM_ADDR gradInput, GM_ADDR gradVar,
                                                             GM_ADDR workspace, GM_ADDR tiling)
{
    (void)workspace; // the tiling asks for none
    REGISTER_TILING_DEFAULT(GaussianNllLossGradTilingData);
    GET_TILING_DATA_WITH_STRUCT(GaussianNllLossGradTilingData, tilingData, tiling);
    AscendC::TPipe pipe;
    GaussianNllLossGrad::Kernel<DTYPE_INPUT> kernel;
    kernel.Init(gradOutput, input, target, var, gradInput, gradVar, tilingData, pipe);
    kernel.Process();
}
