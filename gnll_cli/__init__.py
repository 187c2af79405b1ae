"""gnll: a verification harness for CANN operator packages.

A case flows one way through the rooms of this package: ``cases`` -> ``golden`` (data and golden) -> ``runners``
(outputs) -> ``compare`` (verdict) -> ``reports``. ``operators`` holds what is specific to one operator.
"""

__version__ = "0.1.0"
