"""Models with Scan, for control_cases.py: names, heads and bodies."""

SCANS = [
    ("scan_sum", "g (float[2] s, float[3,2] x) => (float[2] y, float[3,2] z)", """{
  y, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] a1, float[2] o) {
    a1 = Add (a, e)  o = Identity (a1) }> (s, x) }"""),
    ("scan_symbolic", "g (float[2] s, float[n,2] x) => (float[2] y, float[n,2] z)", """{
  y, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] a1, float[2] o) {
    t = Tanh (a)  a1 = Add (t, e)  o = Mul (a, e) }> (s, x) }"""),
    ("scan_reverse", "g (float[2] s, float[3,2] x) => (float[2] y, float[3,2] z)", """{
  y, z = Scan <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [0],
    body = b (float[2] a, float[2] e) => (float[2] a1, float[2] o) {
    t = Tanh (a)  a1 = Add (t, e)  o = Identity (a1) }> (s, x) }"""),
    ("scan_both_reverse", "g (float[2] s, float[n,2] x) => (float[2] y, float[n,2] z)", """{
  y, z = Scan <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
    body = b (float[2] a, float[2] e) => (float[2] a1, float[2] o) {
    t = Tanh (a)  a1 = Add (t, e)  o = Identity (a1) }> (s, x) }"""),
    ("scan_axes",
     "g (float[2] s, float[2,n,3] x) => (float[2] y, float[2,3,n] z, float[2,n] k)", """{
  y, z, k = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [2, -1],
    body = b (float[2] a, float[2,3] e) => (float[2] a1, float[2,3] o, float[2] r) {
    t = ReduceSum <keepdims = 0> (e)  u = Sin (t)  a1 = Add (a, u)  o = Neg (e)
    r = Identity (a) }> (s, x) }"""),
    ("scan_axes_reverse", "g (float[2] s, float[2,3,4] x) => (float[2] y, float[2,4,3] z)", """{
  y, z = Scan <num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [1],
    scan_input_directions = [1], scan_output_directions = [1],
    body = b (float[2] a, float[2,3] e) => (float[2] a1, float[2,3] o) {
    t = ReduceSum <keepdims = 0> (e)  a1 = Add (a, t)  o = Mul (e, t) }> (s, x) }"""),
    ("scan_several",
     "g (float s, int64[2] k, float[3,2] x, int64[2,3] w)"
     " => (float y, int64[2] z, float[3,2] p, int64[3] q)", """{
  y, z, p, q = Scan <num_scan_inputs = 2, scan_input_axes = [0, 1],
    scan_input_directions = [0, 1], scan_output_directions = [1, 0],
    body = b (float a, int64[2] c, float[2] e, int64[2] d) =>
             (float a1, int64[2] c1, float[2] o, int64 r) {
      t = ReduceSum <keepdims = 0> (e)  a1 = Add (a, t)  c1 = Add (c, d)
      o = Mul (e, a)  r = ReduceSum <keepdims = 0> (c1) }> (s, k, x, w) }"""),
    ("scan_without_state", "g (float[n,3] x) => (float[n] z)", """{
  z = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float o) {
    o = ReduceMax <keepdims = 0> (e) }> (x) }"""),
    ("scan_captures",
     "g (float[2] s, float[3,2] x, float[2,2] w) => (float[2] y, float[3,2] z)", """{
  y, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] a1, float[2] o) {
    m = MatMul (w, a)  t = Add (m, e)  a1 = Tanh (t)  o = Identity (a1) }> (s, x) }"""),
    ("scan_with_an_unread_stack",
     "g (float[2] s, float[3,2] x) => (float[2] y, float[3,2] z)", """{
  y, u, z = Scan <num_scan_inputs = 1, scan_output_axes = [1, 0],
    body = b (float[2] a, float[2] e) => (float[2] a1, float[2] o, float[2] p) {
      a1 = Add (a, e)  o = Neg (e)  p = Sin (a1) }> (s, x) }"""),
    ("scan_in_loop", "g (float[2] s, float[3,2] x, int64 m) => (float[2] y)", """{
  y = Loop (m, , s) <body = b (int64 i, bool p, float[2] v) => (bool q, float[2] w) {
    q = Identity (p)
    w, unread = Scan <num_scan_inputs = 1,
      body = b2 (float[2] a, float[2] e) => (float[2] a1, float[2] o) {
        t = Sin (a)  a1 = Add (t, e)  o = Identity (a) }> (v, x) }> }"""),
]

# Of opset 8: everything has a batch axis, and each sequence its length.
BATCHED_SCANS = [
    ("scan_batch", "g (float[2,2] s, float[2,3,2] x) => (float[2,2] y, float[2,3,2] z)", """{
  y, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] a1, float[2] o) {
    a1 = Add (a, e)  o = Neg (a1) }> ( , s, x) }"""),
    ("scan_batch_symbolic", "g (float[n,2] s, float[n,3,2] x) => (float[n,2] y, float[n,3] z)", """{
  y, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] a1, float o) {
    t = Tanh (a)  a1 = Add (t, e)  o = ReduceSum <keepdims = 0> (a1) }> ( , s, x) }"""),
    ("scan_batch_reverse",
     "g (float[2] s, float[2,4,3] x, float[2,4] w) => (float[2] y, float[2,4,3] z)", """{
  y, z = Scan <num_scan_inputs = 2, directions = [1, 0],
    body = b (float a, float[3] e, float f) => (float a1, float[3] o) {
      t = Tanh (a)  a1 = Add (t, f)  o = Mul (e, a1) }> ( , s, x, w) }"""),
    ("scan_batch_lengths",
     "g (int64[3] k, float[3,2] s, float[3,5,2] x)"
     " => (float[3,2] y, float[3,5,2] z, int64[3,5] u)", """{
  one = Constant <value = int64 {1}> ()  l = Add (k, one)  c = Constant <value = int64 {7}> ()
  y, z, u = Scan <num_scan_inputs = 1,
    body = b (float[2] a, float[2] e) => (float[2] a1, float[2] o, int64 p) {
      a1 = Add (a, e)  o = Exp (a1)  p = Identity (c) }> (l, s, x) }"""),
    ("scan_batch_without_state", "g (float[2,3,4] x) => (float[2,3] z)", """{
  z = Scan <num_scan_inputs = 1, body = b (float[4] e) => (float o) {
    o = ReduceMax <keepdims = 0> (e) }> ( , x) }"""),
]
