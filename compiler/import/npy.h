// numpy's file format, versions 1 to 3 (numpy.lib.format, "Format version numbering" in its
// documentation, from NEP 1): what the example program of an output folder reads and writes, and
// what --bind takes.
//
//   WriteFile("input_0.npy", ToNpy(x));
//   AOTC_ASSIGN_OR_RETURN(Constant y, ParseNpy(bytes, expected_type));
#ifndef AOTC_COMPILER_IMPORT_NPY_H_
#define AOTC_COMPILER_IMPORT_NPY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/constant.h"

namespace aotc {

// Element types that numpy does not have are written as unsigned integers of their size; those
// below a byte as the packed bytes.
std::string ToNpy(const Constant& tensor);

// The tensor of a file. `dtype` is what its elements are: a file of unsigned integers serves every
// type of that size that numpy lacks. Bytes of rank 1 that fill `dims` exactly get those dims.
// Error, to be read after the name of the file: no such file or a damaged one, another element
// type, big-endian, Fortran order, Python objects, more or fewer bytes than the shape needs.
absl::StatusOr<Constant> ParseNpy(std::string_view bytes, DType dtype,
                                  const std::vector<int64_t>& dims);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_NPY_H_
