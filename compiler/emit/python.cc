// NAME.py: calls the model from Python by ctypes, over arrays of numpy.
#include <algorithm>

#include "compiler/emit/bundles.h"
#include "compiler/emit/parts.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kOpening = R"(
  """The model $name$ in Python: the shared library of this folder by ctypes, arrays by numpy.

      import $name$
      model = $name$.Model()      # or Model("path/to/the/library", workers=4)
      $results$ = model($operands$)

  The library: cmake -S . -B build -DBUILD_SHARED_LIBS=ON && cmake --build build

  Inputs:
      $inputs$
  Outputs:
      $outputs$
  """
  import ctypes as C
  import pathlib
  import threading
  from typing import List, NamedTuple, Optional, Tuple, Union

  import numpy as np

  _NAME = "$name$"
)";

constexpr std::string_view kTable = R"(
  _ABI_VERSION, _MAX_RANK, _ALIGNMENT = 2, 8, 64
  _I32, _I64, _SIZE, _PTR = C.c_int32, C.c_int64, C.c_size_t, C.c_void_p
  # By the numbers of onnx.TensorProto.DataType.
  _DTYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32,
             7: np.int64, 9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32,
             13: np.uint64}


  # The structures of aotc/model.h.


  class _Tensor(C.Structure):
      _fields_ = [("data", _PTR), ("capacity_bytes", _SIZE), ("dims", _I64 * _MAX_RANK),
                  ("rank", _I32), ("dtype", _I32)]


  class _Value(C.Structure):
      _fields_ = [("kind", _I32), ("item_count", _I32), ("item_capacity", _I32), ("items", _PTR),
                  ("tensor", _Tensor)]


  class _Info(C.Structure):
      _fields_ = [("name", C.c_char_p), ("kind", _I32), ("child_count", _I32), ("children", _PTR),
                  ("max_items", _I32), ("dtype", _I32), ("rank", _I32),
                  ("min_dims", _I64 * _MAX_RANK), ("max_dims", _I64 * _MAX_RANK),
                  ("dim_names", C.c_char_p * _MAX_RANK), ("max_bytes", _SIZE)]


  class _Alias(C.Structure):
      _fields_ = [("input", _I32), ("output", _I32), ("strides", _I64 * _MAX_RANK)]


  class _Parallel(C.Structure):
      _fields_ = [("context", _PTR), ("workers", _I32), ("run", _PTR)]


  class _Table(C.Structure):
      _fields_ = [("abi_version", C.c_uint32), ("name", C.c_char_p), ("producer", C.c_char_p),
                  ("input_count", _I32), ("output_count", _I32), ("inputs", C.POINTER(_Info)),
                  ("outputs", C.POINTER(_Info)), ("arena_bytes", _SIZE), ("arena_align", _SIZE),
                  ("instance_bytes", _SIZE), ("create", C.CFUNCTYPE(_I32, _PTR)),
                  ("run", C.CFUNCTYPE(_I32, _PTR, C.POINTER(_Value), C.POINTER(_Value), _PTR,
                                      C.POINTER(_Parallel))),
                  ("destroy", C.CFUNCTYPE(_I32, _PTR)),
                  ("pool_create", C.CFUNCTYPE(_I32, _I32, C.POINTER(_Parallel))),
                  ("pool_destroy", C.CFUNCTYPE(None, C.POINTER(_Parallel))),
                  ("status_text", C.CFUNCTYPE(C.c_char_p, _I32)),
                  ("set_weights", C.CFUNCTYPE(_I32, _PTR, _PTR, _SIZE)),
                  ("alias_count", _I32), ("aliases", C.POINTER(_Alias))]
)";

constexpr std::string_view kHelpers = R"(
  def _aligned(size: int) -> np.ndarray:
      """Bytes at an address that the model takes."""
      raw = np.zeros(size + _ALIGNMENT, np.uint8)
      start = -raw.ctypes.data % _ALIGNMENT
      return raw[start:start + size]


  def _address(data: np.ndarray) -> Optional[int]:
      return data.ctypes.data if data.size else None


  def _strided(data: np.ndarray, dtype: np.dtype, shape: Tuple[int, ...], strides) -> np.ndarray:
      """A tensor in memory that an input and an output share; strides are of elements."""
      steps = [dtype.itemsize * stride for stride in strides[:len(shape)]]
      whole = data[:data.size // dtype.itemsize * dtype.itemsize].view(dtype)
      return np.lib.stride_tricks.as_strided(whole, shape, steps)


  def _find_library() -> pathlib.Path:
      here = pathlib.Path(__file__).resolve().parent
      names = f"lib{_NAME}.so", f"lib{_NAME}.dylib", f"{_NAME}.dll"
      for path in (folder / name for folder in (here, here / "build") for name in names):
          if path.exists():
              return path
      raise FileNotFoundError(f"there is no {names[0]} in {here} or its folder build: see the "
                              f"first lines of {__file__}")


  class Port(NamedTuple):
      """An input or an output. Each dim has its least and its greatest size."""
      name: str
      dtype: np.dtype
      dims: Tuple[Tuple[int, int], ...]

      def array(self, value) -> np.ndarray:
          """The value with the port's type. TypeError where a float would become an integer."""
          return np.asarray(value).astype(self.dtype, casting="same_kind", copy=False)


  def _port(info: _Info) -> Port:
      dims = tuple(zip(info.min_dims[:info.rank], info.max_dims[:info.rank]))
      return Port(info.name.decode(), np.dtype(_DTYPES[info.dtype]), dims)
)";

constexpr std::string_view kModel = R"(
  class Model:
      """An instance of the model with memory of its own. Threads may share it: runs take turns.

      `library` is the path of the shared library, by default that of this folder or of its folder
      build; `weights` that of the weights, where they are a file of their own.
      """

      def __init__(self, library: Union[str, pathlib.Path, None] = None, workers: int = 1,
                   weights: Union[str, pathlib.Path, None] = None):
          self._closed, self._lock = True, threading.Lock()
          self._library = C.CDLL(str(library or _find_library()))
          entry = getattr(self._library, f"{_NAME}_model")
          entry.restype = C.POINTER(_Table)
          self._table = entry().contents
          if self._table.abi_version != _ABI_VERSION:
              raise RuntimeError(f"{library} has ABI version {self._table.abi_version}")
          self._inputs = self._table.inputs[:self._table.input_count]
          self._outputs = self._table.outputs[:self._table.output_count]
          self._aliases = self._table.aliases[:self._table.alias_count]
          self.inputs: List[Port] = [_port(info) for info in self._inputs]
          self.outputs: List[Port] = [_port(info) for info in self._outputs]
          self._arena = _aligned(self._table.arena_bytes)
          self._instance = _aligned(self._table.instance_bytes)
          self._check(self._table.create(_address(self._instance)))
          self._closed, self._pool = False, None
          if self._table.set_weights:
              self._set_weights(weights)
          if workers > 1:
              self._start(workers)

      def _set_weights(self, path) -> None:
          path = path or pathlib.Path(__file__).with_name(f"{_NAME}_weights.bin")
          data = np.fromfile(path, np.uint8)
          self._weights = _aligned(data.size)
          self._weights[:] = data
          self._check(self._table.set_weights(_address(self._instance), _address(self._weights),
                                              data.size))

      def _start(self, workers: int) -> None:
          if not self._table.pool_create:
              raise ValueError(f"{_NAME} has no threads of its own: workers=1")
          pool = _Parallel()
          self._check(self._table.pool_create(workers, C.byref(pool)))
          self._pool = pool

      def _check(self, status: int) -> None:
          if status:
              raise RuntimeError(self._table.status_text(status).decode())

      def close(self) -> None:
          """Ends the threads and gives the instance back."""
          if self._closed:
              return
          self._closed = True
          if self._pool is not None:
              self._table.pool_destroy(C.byref(self._pool))
          self._table.destroy(_address(self._instance))

      def __enter__(self) -> "Model":
          return self

      def __exit__(self, *_) -> None:
          self.close()

      def __del__(self):
          self.close()

      def __call__(self, *arrays, **by_name) -> Tuple[np.ndarray, ...]:
          """The outputs, in their order, of the inputs in theirs or by name. RuntimeError with
          what is wrong where the model refuses one.
          """
          names = [port.name for port in self.inputs]
          given = dict(zip(names, arrays))
          if len(arrays) > len(names) or given.keys() & by_name.keys():
              raise TypeError(f"{_NAME} takes each of {names} once")
          given.update(by_name)
          if given.keys() != set(names):
              raise TypeError(f"{_NAME} takes {names}, not {list(given)}")
          with self._lock:
              if self._closed:
                  raise RuntimeError(f"the model {_NAME} is closed")
              return self._run([port.array(given[port.name]) for port in self.inputs])

      def _run(self, arrays: List[np.ndarray]) -> Tuple[np.ndarray, ...]:
          held = [_aligned(info.max_bytes) for info in self._outputs]
          shared = {alias.input: (held[alias.output], alias.strides) for alias in self._aliases}
          lent = [self._lend(array, shared.get(k)) for k, array in enumerate(arrays)]
          given, results = (_Value * (len(lent) + 1))(), (_Value * (len(held) + 1))()
          for value, info, array, data in zip(given, self._inputs, arrays, lent):
              value.tensor = _Tensor(_address(data), data.size, (_I64 * _MAX_RANK)(*array.shape),
                                     array.ndim, info.dtype)
          for value, info, data in zip(results, self._outputs, held):
              value.tensor = _Tensor(_address(data), data.size, (_I64 * _MAX_RANK)(), info.rank,
                                     info.dtype)
          self._check(self._table.run(_address(self._instance), given, results,
                                      _address(self._arena),
                                      C.byref(self._pool) if self._pool is not None else None))
          strides = {alias.output: alias.strides for alias in self._aliases}
          return tuple(self._result(port, value.tensor, data, strides.get(k))
                       for k, (port, value, data) in enumerate(zip(self.outputs, results, held)))

      @staticmethod
      def _lend(array: np.ndarray, shared) -> np.ndarray:
          """The bytes of an input where the model may read them."""
          if shared is None:
              data = _aligned(array.nbytes)
              data[:] = np.frombuffer(array.tobytes(), np.uint8)
              return data
          data, strides = shared
          _strided(data, array.dtype, array.shape, strides)[...] = array
          return data

      @staticmethod
      def _result(port: Port, tensor: _Tensor, data: np.ndarray, strides) -> np.ndarray:
          shape = tuple(tensor.dims[:tensor.rank])
          if strides is not None:
              return _strided(data, port.dtype, shape, strides).copy()
          size = port.dtype.itemsize * int(np.prod(shape, dtype=np.int64))
          return data[:size].view(port.dtype).reshape(shape)
)";

// Of a docstring: no name of the model ends it.
std::string DocText(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace(text.begin(), text.end(), '\\', '/');
  return CommentText(text);
}

std::string Listed(const std::vector<TensorPort>& ports) {
  return StrJoin(ports, "\n", [](const TensorPort& port) {
    return DocText(StrCat(port.name, ": ", port.text));
  });
}

std::string Members(const std::vector<TensorPort>& ports) {
  constexpr size_t kMostShown = 4;
  std::vector<std::string> members;
  for (const TensorPort& port : ports) members.push_back(port.member);
  if (members.size() <= kMostShown) return StrJoin(members, ", ");
  members.resize(kMostShown);
  return StrCat(StrJoin(members, ", "), ", ...");
}

bool HasNumpyType(const TensorPort& port) {
  const DType type = port.dtype;
  if (type == DType::kBool || type == DType::kF16) return true;
  return BitWidth(type) >= 8 && (IsInteger(type) || type == DType::kF32 || type == DType::kF64);
}

}  // namespace

bool HasNumpyTypes(const EmitContext& context) {
  const ModelInterface& m = context.interface;
  return !HasBundles(context) && std::ranges::all_of(m.inputs, HasNumpyType) &&
         std::ranges::all_of(m.outputs, HasNumpyType);
}

std::string EmitPython(const EmitContext& context) {
  const ModelInterface& m = context.interface;
  CodeWriter w;
  w.Emit(kOpening, {{"name", m.prefix},
                    {"results", StrCat(Members(m.outputs), m.outputs.size() == 1 ? "," : "")},
                    {"operands", Members(m.inputs)},
                    {"inputs", Listed(m.inputs)},
                    {"outputs", Listed(m.outputs)}});
  w.Emit(kTable);
  w.Line();
  w.Line();
  w.Emit(kHelpers);
  w.Line();
  w.Line();
  w.Emit(kModel);
  return w.Take();
}

}  // namespace aotc
