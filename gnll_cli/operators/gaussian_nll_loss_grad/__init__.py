"""GaussianNllLossGrad: the backward of GaussianNLLLoss."""

from gnll_cli.operators.gaussian_nll_loss_grad import contract
from gnll_cli.operators.gaussian_nll_loss_grad.benchmark import benchmark
from gnll_cli.operators.gaussian_nll_loss_grad.golden import alternatives, golden
from gnll_cli.operators.gaussian_nll_loss_grad.tiling import tiling
from gnll_cli.operators.interface import Operator

OPERATOR = Operator(
    name=contract.NAME,
    type=contract.TYPE,
    inputs=contract.INPUTS,
    outputs=contract.OUTPUTS,
    attributes=contract.ATTRIBUTES,
    dtypes=contract.DTYPES,
    base="input",
    data=contract.DATA,
    refusals=contract.REFUSALS,
    forms=contract.FORMS,
    form=contract.form,
    shapes=contract.shapes,
    output_shapes=contract.output_shapes,
    refusal=contract.refusal,
    labels=contract.labels,
    golden=golden,
    benchmark=benchmark,
    tiling=tiling,
    alternatives=alternatives,
    neutral=("full",),
)
