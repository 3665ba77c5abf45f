"""Eight numbers at a time: what a loop does with one number, it does with eight in one instruction, or a few.

Compilers turn some loops into this by themselves, but none that carries values from one step to the next.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

N_LANES = 8


class _LanesType(types.Type):
    def __init__(self):
        super().__init__(name="Lanes")


_LANES = _LanesType()
_VECTOR = ir.VectorType(ir.DoubleType(), N_LANES)


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, data_models, of_type):
        super().__init__(data_models, of_type, _VECTOR)


def _place(context, builder, array_type, array, index_type, index):
    """Return the address of eight numbers of an array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [context.cast(builder, index, index_type, types.intp)]), _VECTOR.as_pointer())


@intrinsic
def load_lanes(typing_context, array, i):
    """Return numbers i to i + 7 of an array of float64; all eight must exist."""

    def generate(context, builder, signature, arguments):
        array_type, index_type = signature.args
        return builder.load(_place(context, builder, array_type, arguments[0], index_type, arguments[1]), align=8)

    return _LANES(array, i), generate


@intrinsic
def store_lanes(typing_context, lanes, array, i):
    """Write the numbers to places i to i + 7 of an array of float64."""

    def generate(context, builder, signature, arguments):
        _, array_type, index_type = signature.args
        builder.store(arguments[0], _place(context, builder, array_type, arguments[1], index_type, arguments[2]), align=8)
        return context.get_dummy_value()

    return types.void(_LANES, array, i), generate


@intrinsic
def spread(typing_context, number):
    """Return the same number in all lanes."""

    def generate(context, builder, signature, arguments):
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), arguments[0], ir.Constant(ir.IntType(32), 0))
        nowhere = ir.Constant(_VECTOR, ir.Undefined)
        return builder.shuffle_vector(one, nowhere, ir.Constant(ir.VectorType(ir.IntType(32), N_LANES), [0] * N_LANES))

    return _LANES(types.float64), generate


@intrinsic
def where_greater(typing_context, a, b, chosen, other):
    """Return the lanes of `chosen` where a is greater than b, and those of `other` elsewhere."""

    def generate(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered(">", arguments[0], arguments[1]), arguments[2], arguments[3])

    return _LANES(_LANES, _LANES, _LANES, _LANES), generate


class _OfLanes(ConcreteTemplate):
    cases = (signature(_LANES, _LANES, _LANES),)


for _operation in (operator.add, operator.sub):
    infer_global(_operation)(_OfLanes)


@lower_builtin(operator.add, _LANES, _LANES)
def _add(context, builder, signature, arguments):
    return builder.fadd(*arguments)


@lower_builtin(operator.sub, _LANES, _LANES)
def _subtract(context, builder, signature, arguments):
    return builder.fsub(*arguments)
