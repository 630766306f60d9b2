"""Probes of check_data_sizes.py whose sizes are known in a branch or a body, or change in a loop;
to be imported for them.
"""
import numpy as np
from onnx import parser

from data_net import INT64, probe


def region(text):
    return parser.parse_graph(text)


def sum_is_positive(p, x):
    return p.op("Greater", p.op("ReduceSum", x, keepdims=0), p.const(0, np.float32))


@probe
def chosen_in_a_branch(p):
    """What is known in one branch alone: the other has a size of its own."""
    x, flags = p.data(6, 3), p.flags(6)
    chosen = region(f"then () => (float[n, 3] a) {{ a = Compress<axis = 0>({x}, {flags}) }}")
    all_of_it = region(f"else () => (float[6, 3] b) {{ b = Neg({x}) }}")
    y = p.op("If", sum_is_positive(p, x), then_branch=chosen, else_branch=all_of_it)
    p.output(y)
    p.output(p.op("MatMul", p.op("Tanh", y), p.random(3, 5)))


@probe
def counted_in_a_branch(p):
    """Nothing outside depends on the size that a branch learns."""
    x, flags = p.data(8), p.flags(8)
    counted = region(f"""then () => (float a) {{
        c = Compress<axis = 0>({x}, {flags})
        d = Exp(c)
        a = ReduceSum<keepdims = 0>(d)
    }}""")
    zero = region(f"else () => (float b) {{ b = ReduceMax<keepdims = 0>({x}) }}")
    p.output(p.op("If", sum_is_positive(p, x), then_branch=counted, else_branch=zero))
    p.output(p.op("Compress", x, flags, axis=0))


@probe
def nested_branches(p):
    """An If in an If, three sizes in all."""
    x, y, flags = p.data(5, 2), p.data(7, 2), p.flags(7)
    inner = p.op("Greater", p.op("ReduceMax", y, keepdims=0), p.const(1, np.float32))
    text = f"""then () => (float[n, 2] a) {{
        a = If({inner}) <
            then_branch = g () => (float[m, 2] a1) {{ a1 = Compress<axis = 0>({y}, {flags}) }},
            else_branch = h () => (float[5, 2] a2) {{ a2 = Abs({x}) }}
        >
    }}"""
    other = region(f"else () => (float[12, 2] b) {{ b = Concat<axis = 0>({x}, {y}) }}")
    z = p.op("If", sum_is_positive(p, x), then_branch=region(text), else_branch=other)
    p.output(z)
    p.output(p.op("ReduceSum", z, p.const([0]), keepdims=0))


@probe
def sizes_of_a_round(p):
    """Each round chooses other rows."""
    x, flags = p.data(4, 5), p.flags(6, 4)
    body = region(f"""body (int64 i, bool go, float[5] old) =>
        (bool go_on, float[5] new, int64 m) {{
        go_on = Identity(go)
        mask = Gather<axis = 0>({flags}, i)
        rows = Compress<axis = 0>({x}, mask)
        zero = Constant<value_ints = [0]>()
        sum = ReduceSum<keepdims = 0>(rows, zero)
        new = Add(old, sum)
        m = Size(rows)
    }}""")
    last, sizes = p.op("Loop", p.count_of(p.flags(6)), p.const(True, bool), p.data(5), outputs=2,
                       body=body)
    p.output(last)
    p.output(p.bound(sizes, 0, 5, f2=True), INT64)


@probe
def grows(p):
    """A state that is a row longer after each round, to its bound."""
    x = p.data(1, 3)
    body = region("""body (int64 i, bool go, float[n, 3] old) => (bool go_on, float[m, 3] new) {
        go_on = Identity(go)
        zero = Constant<value_ints = [0]>()
        sum = ReduceSum<keepdims = 1>(old, zero)
        new = Concat<axis = 0>(old, sum)
    }""")
    last = p.op("Loop", p.count_of(p.flags(6)), p.const(True, bool), x, name="grown", body=body)
    p.output(p.bound(last, 0, 6, f1=True))
    p.output(p.op("Relu", last))


@probe
def grows_as_data_say(p):
    """What a round adds depends on data, and the rounds end where a condition says so."""
    x, flags, limit = p.data(7, 2), p.flags(7), p.data(1)
    body = region(f"""body (int64 i, bool go, float[n, 2] old) => (bool go_on, float[m, 2] new) {{
        some = Compress<axis = 0>({x}, {flags})
        new = Concat<axis = 0>(old, some)
        top = ReduceMax<keepdims = 0>(new)
        go_on = Less(top, {p.const(1.5, np.float32)})
    }}""")
    last = p.op("Loop", p.const(3), p.const(True, bool), p.random(2, 2), name="grown", body=body)
    p.output(p.bound(last, 0, 20, x0=0, f1=True))
    p.output(p.op("MatMul", p.op("Exp", last), p.random(2, 3)))


@probe
def shrinks(p):
    """A state of which each round keeps a part: halves, until none is left."""
    x = p.data(16)
    body = region("""body (int64 i, bool go, float[n] old) => (bool go_on, float[m] new) {
        go_on = Identity(go)
        size = Shape(old)
        two = Constant<value_ints = [2]>()
        half = Div(size, two)
        zero = Constant<value_ints = [0]>()
        new = Slice(old, zero, half)
    }""")
    last = p.op("Loop", p.count_of(p.flags(7)), p.const(True, bool), x, name="less", body=body)
    p.output(last)


@probe
def collected(p):
    """A loop that keeps what it finds: rows of which the sum is positive."""
    x = p.data(6, 4)
    body = region(f"""body (int64 i, bool go, float[n, 4] old) => (bool go_on, float[m, 4] new) {{
        go_on = Identity(go)
        row = Gather<axis = 0>({x}, i)
        sum = ReduceSum<keepdims = 0>(row)
        zero = Constant<value_float = 0.0>()
        keep = Greater(sum, zero)
        new = If(keep) <
            then_branch = g () => (float[k, 4] a) {{
                axes = Constant<value_ints = [0]>()
                one = Unsqueeze(row, axes)
                a = Concat<axis = 0>(old, one)
            }},
            else_branch = h () => (float[n, 4] b) {{ b = Identity(old) }}
        >
    }}""")
    last = p.op("Loop", p.const(6), p.const(True, bool), p.random(0, 4), name="kept", body=body)
    p.output(p.bound(last, 0, 5, x0=1))


def sum_until(x, limit):
    """A body that adds the sizes of x until one of the sums is not below the limit."""
    return region(f"""body (int64 i, bool go, float[3] old) =>
        (bool go_on, float[3] new, float[3] s) {{
        size = Abs({x})
        new = Add(old, size)
        sum = ReduceMax<keepdims = 0>(new)
        end = ReduceMax<keepdims = 0>({limit})
        go_on = Less(sum, end)
        s = Neg(new)
    }}""")


@probe
def while_loop(p):
    """A loop without a count, which stacks: its condition alone ends it."""
    x, limit = p.data(3), p.data(1)
    last, stacked = p.op("Loop", "", p.const(True, bool), p.const([0, 0, 0], np.float32), outputs=2,
                         body=sum_until(x, limit))
    p.output(last)
    p.output(p.bound(stacked, 0, 4, x0=0.01, x1=3))


@probe
def cut_short(p):
    """A loop that stacks, whose count is beyond the bound of that: its condition ends it before."""
    x, limit = p.data(3), p.data(1)
    count = p.op("Mul", p.count_of(p.flags(6)), p.const(1000))
    last, stacked = p.op("Loop", count, p.const(True, bool), p.const([0, 0, 0], np.float32),
                         outputs=2, body=sum_until(x, limit))
    p.output(last)
    p.output(p.bound(stacked, 0, 4, x0=0.01, x1=3, f2=True))


@probe
def loop_in_loop(p):
    """An inner loop of as many rounds as the outer one has had, or twice as many, whose state
    grows.
    """
    x, times = p.data(1, 2), p.drawn("n1", [], lambda rng, dims: rng.integers(1, 3), INT64)
    body = region(f"""body (int64 i, bool go, float[2] old) =>
        (bool go_on, float[2] new, float s) {{
        go_on = Identity(go)
        rounds = Mul(i, {times})
        inner = Loop(rounds, go, {x}) <
            body = b (int64 j, bool g, float[n, 2] o) => (bool g2, float[m, 2] q) {{
                g2 = Identity(g)
                t = Tanh({x})
                q = Concat<axis = 0>(o, t)
            }}
        >
        zero = Constant<value_ints = [0]>()
        sum = ReduceSum<keepdims = 0>(inner, zero)
        new = Add(old, sum)
        s = ReduceMax<keepdims = 0>(inner)
    }}""")
    last, tops = p.op("Loop", p.count_of(p.flags(6)), p.const(True, bool), p.data(2), outputs=2,
                      body=body)
    p.bound("inner", 0, 11, n1=4, f2=np.arange(6) < 4)  # more than what is drawn takes
    p.output(last)
    p.output(p.bound(tops, 0, 5, n1=1, f2=True))


@probe
def scanned(p):
    """If in Loop in Scan, captures through both."""
    x, flags, rows = p.data(3, 4), p.flags(4), p.data(5, 4)
    text = f"""body (float[4] state, float[4] row) => (float[4] next, float found) {{
        three = Constant<value_int = 3>()
        yes = Constant<value = bool {{1}}>()
        next = Loop(three, yes, state) <
            body = b (int64 j, bool g, float[4] s) => (bool g2, float[4] t) {{
                g2 = Identity(g)
                line = Gather<axis = 0>({x}, j)
                zero = Constant<value_float = 0.0>()
                top = ReduceMax<keepdims = 0>(line)
                up = Greater(top, zero)
                t = If(up) <
                    then_branch = c () => (float[4] a) {{ a = Add(s, row) }},
                    else_branch = d () => (float[4] b) {{
                        few = Compress<axis = 0>(line, {flags})
                        sum = ReduceSum<keepdims = 0>(few)
                        b = Sub(s, sum)
                    }}
                >
            }}
        >
        found = ReduceSum<keepdims = 0>(next)
    }}"""
    last, found = p.op("Scan", p.data(4), rows, outputs=2, body=region(text), num_scan_inputs=1)
    p.output(last)
    p.output(found)
    p.output(p.op("Compress", rows, flags, axis=1))


@probe
def not_taken(p):
    """The branch not taken would divide by zero, or read out of range."""
    n, d = p.labels(9, 4), p.labels(2, 1)
    x = p.data(4)
    some = p.op("Greater", p.op("Squeeze", d, p.const([0])), p.const(0))
    safe = region(f"""then () => (int64[4] a) {{ a = Div({n}, {d}) }}""")
    zero = region(f"""else () => (int64[4] b) {{ b = Neg({n}) }}""")
    p.output(p.op("If", some, then_branch=safe, else_branch=zero), INT64)
    most = p.op("ReduceMax", n, keepdims=0)
    inside = p.op("Less", most, p.const(4))
    read = region(f"""then () => (float[4] a) {{ a = Gather<axis = 0>({x}, {n}) }}""")
    keep = region(f"""else () => (float[4] b) {{ b = Identity({x}) }}""")
    p.output(p.op("If", inside, then_branch=read, else_branch=keep))
    # A shape that is right in one branch alone.
    count = p.op("Gather", p.op("Shape", p.op("Compress", p.data(6), p.flags(6), axis=0)),
                 p.const([0]))
    even = p.op("Equal", p.op("Mod", p.op("Squeeze", count, p.const([0])), p.const(2)), p.const(0))
    two = region(f"""then () => (float[r, 2] a) {{
        shape = Constant<value_ints = [2, 2]>()
        a = Reshape({x}, shape)
    }}""")
    flat = region(f"""else () => (float[1, 4] b) {{
        shape = Constant<value_ints = [1, 4]>()
        b = Reshape({x}, shape)
    }}""")
    p.output(p.op("If", even, then_branch=two, else_branch=flat))
