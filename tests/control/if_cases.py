"""Models with If, as texts: name, head and body, as control_cases.py reads them."""

IFS = [
    ("if_scalar_condition", "g (float[4] x, bool c) => (float[4] y)", """{
  y = If (c) <then_branch = t () => (float[4] a) { a = Neg (x) },
              else_branch = e () => (float[4] b) { b = Exp (x) }> }"""),
    ("if_condition_of_one_element", "g (float[4] x, bool[1] c) => (float[4] y)", """{
  y = If (c) <then_branch = t () => (float[4] a) { a = Neg (x) },
              else_branch = e () => (float[4] b) { b = Exp (x) }> }"""),
    ("if_condition_computed", "g (float[4] x, float s) => (float[4] y)", """{
  zero = Constant <value = float {0.0}> ()
  c = Greater (s, zero)
  r = Sin (x)
  u = If (c) <then_branch = t () => (float[4] a) { a = Mul (r, s) },
              else_branch = e () => (float[4] b) { b = Sub (r, s) }>
  y = Relu (u) }"""),
    # The condition lies in the memory of the output, whose shape it is not.
    ("if_condition_seen_as_another_shape",
     "g (float[4] x, float s) => (bool[1] w, float[4] y)", """{
  zero = Constant <value = float {0.0}> ()
  one = Constant <value = int64[1] {1}> ()
  c = Greater (s, zero)
  w = Expand (c, one)
  y = If (c) <then_branch = t () => (float[4] a) { a = Neg (x) },
              else_branch = e () => (float[4] b) { b = Exp (x) }> }"""),
    ("if_shared_outer_value", "g (float[n,3] x, bool c) => (float[n,3] y, float[n,3] z)", """{
  s = Exp (x)
  y = If (c) <then_branch = t () => (float[n,3] a) { a = Neg (s) },
              else_branch = e () => (float[n,3] b) { b = Sqrt (s) }>
  z = Add (y, s) }"""),
    # Only where n is 1 does the branch run that drops its axis.
    ("if_axis_dropped", "g (float[n,3] x) => (float[3] y)", """{
  shape = Shape <start = 0, end = 1> (x)
  one = Constant <value = int64[1] {1}> ()
  first = Constant <value = int64[1] {0}> ()
  c = Equal (shape, one)
  y = If (c) <then_branch = t () => (float[3] a) { s = Squeeze (x, first) a = Neg (s) },
              else_branch = e () => (float[3] b) {
    b = ReduceMax <axes = [0], keepdims = 0> (x) }> }"""),
    ("if_axis_dropped_by_flag", "g (float[n,3] x, bool c) => (float[3] y)", """{
  shape = Shape <start = 0, end = 1> (x)
  one = Constant <value = int64[1] {1}> ()
  first = Constant <value = int64[1] {0}> ()
  is_one = Equal (shape, one)
  drops = And (c, is_one)
  y = If (drops) <then_branch = t () => (float[3] a) { s = Squeeze (x, first) a = Neg (s) },
                  else_branch = e () => (float[3] b) {
    b = ReduceMax <axes = [0], keepdims = 0> (x) }> }"""),
    ("if_several_outputs",
     "g (float[4] x, int64[2] k, bool c) => (float[4] y, int64[2] z, bool w)", """{
  y, z, w = If (c) <
    then_branch = t () => (float[4] a, int64[2] i, bool p) {
      a = Neg (x)  i = Add (k, k)  p = Identity (c) },
    else_branch = e () => (float[4] b, int64[2] j, bool q) {
      b = Identity (x)  j = Constant <value = int64[2] {7, 8}> ()
      q = Constant <value = bool {1}> () }> }"""),
    ("if_outputs_that_coincide",
     "g (float[4] x, bool c) => (float[4] y, float[4] z, float[4] w)", """{
  y, z, w = If (c) <
    then_branch = t () => (float[4] a, float[4] b, float[4] d) {
      a = Neg (x)  b = Identity (a)  d = Identity (x) },
    else_branch = e () => (float[4] p, float[4] q, float[4] r) {
      p = Identity (x)  q = Identity (x)  r = Exp (x) }> }"""),
    ("if_unused_output", "g (float[4] x, bool c) => (float[4] y)", """{
  y, unread = If (c) <
    then_branch = t () => (float[4] a, float[4] b) { a = Neg (x)  b = Exp (a) },
    else_branch = e () => (float[4] p, float[4] q) { p = Sin (x)  q = Cos (p) }> }"""),
    ("if_nested", "g (float[n,3] x, bool c, bool d) => (float[n,3] y)", """{
  s = Exp (x)
  y = If (c) <
    then_branch = t () => (float[n,3] a) {
      u = Neg (s)
      a = If (d) <then_branch = tt () => (float[n,3] aa) { aa = Add (u, x) },
                  else_branch = te () => (float[n,3] ab) { ab = Mul (u, s) }> },
    else_branch = e () => (float[n,3] b) { b = Sub (s, x) }> }"""),
    ("if_nested_twice", "g (float[3] x, bool c, bool d, bool h) => (float[3] y)", """{
  s = Exp (x)
  y = If (c) <
    then_branch = t () => (float[3] a) {
      a = If (d) <
        then_branch = tt () => (float[3] aa) {
          v = Sin (s)
          aa = If (h) <then_branch = ttt () => (float[3] aaa) { aaa = Mul (v, x) },
                       else_branch = tte () => (float[3] aab) { aab = Identity (s) }> },
        else_branch = te () => (float[3] ab) { ab = Neg (s) }> },
    else_branch = e () => (float[3] b) {
      b = If (h) <then_branch = et () => (float[3] ba) { ba = Identity (x) },
                  else_branch = ee () => (float[3] bb) { bb = Sqrt (s) }> }> }"""),
    ("if_names_shadowed_by_siblings", "g (float[3] x, bool c) => (float[3] y)", """{
  y = If (c) <
    then_branch = t () => (float[3] a) { s = Neg (x)  a = Exp (s) },
    else_branch = e () => (float[3] a) { s = Sin (x)  a = Abs (s) }> }"""),
    ("if_of_two_ranks", "g (float[n,3] x, bool c) => (float z, int64 k, float[n,3] w)", """{
  y = If (c) <then_branch = t () => (float[n,3] a) { a = Neg (x) },
              else_branch = e () => (float[3] b) { b = ReduceMax <axes = [0], keepdims = 0> (x) }>
  s = Exp (y)  z = ReduceSum <keepdims = 0> (s)  k = Size (y)
  apart = Sin (x)  w = Add (apart, y) }"""),
    ("if_of_two_ranks_twice", "g (float[n,3] x, bool c, bool d) => (float[n,3] w)", """{
  y = If (c) <then_branch = t () => (float[n,3] a) { a = Neg (x) },
              else_branch = e () => (float[3] b) { b = ReduceMax <axes = [0], keepdims = 0> (x) }>
  s = Exp (y)
  v = If (d) <then_branch = tt () => (float aa) { aa = ReduceSum <keepdims = 0> (s) },
              else_branch = te () => (float[n,3] ab) { ab = Add (s, x) }>
  w = Mul (v, x) }"""),
    ("if_of_two_ranks_in_a_branch", "g (float[n,3] x, bool c, bool d) => (float[n,3] w)", """{
  y = If (c) <
    then_branch = t () => (float[n,3] a) {
      u = Neg (x)
      a = If (d) <then_branch = tt () => (float[n,3] aa) { aa = Add (u, x) },
                  else_branch = te () => (float[3] ab) {
                    ab = ReduceMax <axes = [0], keepdims = 0> (u) }> },
    else_branch = e () => (float[n,3] b) { b = Sin (x) }>
  w = Mul (y, x) }"""),
    ("if_squeezed_where_it_can_be", "g (float[n,3] x) => (float m)", """{
  k = Shape (x)  one = Constant <value = int64[1] {1}> ()  zero = Constant <value = int64[1] {0}> ()
  rows = Gather (k, zero)
  c = Equal (rows, one)
  y = If (c) <then_branch = t () => (float[3] a) { a = Squeeze (x, zero) },
              else_branch = e () => (float[n,3] b) { b = Identity (x) }>
  m = ReduceMean <keepdims = 0> (y) }"""),
    ("if_matrix_products", "g (float[n,8] x, bool c) => (float[n,8] y)", """{
  y = If (c) <
    then_branch = t () => (float[n,8] a) { k = Transpose <perm = [1, 0]> (x)  m = MatMul (x, k)
                                           a = MatMul (m, x) },
    else_branch = e () => (float[n,8] b) { b = Softmax <axis = 1> (x) }> }"""),
    ("if_convolution",
     "g (float[1,16,6,6] x, bool c) => (float[1,16,6,6] y, float[1,16,6,6] z)", """{
  w = Constant <value = float[16,16,1,1] {KERNEL}> ()
  y = If (c) <
    then_branch = t () => (float[1,16,6,6] a) { a = Conv (x, w) },
    else_branch = e () => (float[1,16,6,6] b) { r = Relu (x)  b = Conv (r, w) }>
  z = Conv (x, w) }"""),
]
