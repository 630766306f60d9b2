"""All families of single operators, of every domain."""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "domains")]

import domain_attention  # noqa: E402
import domain_fused  # noqa: E402
import domain_models  # noqa: E402
import domain_quantized  # noqa: E402
import domain_string_moves  # noqa: E402
import domain_strings  # noqa: E402
import domain_trees  # noqa: E402
import operator_draws  # noqa: E402
import operator_einsum  # noqa: E402
import operator_graphs  # noqa: E402
import operator_indices  # noqa: E402
import operator_numbers  # noqa: E402
import operator_opsets  # noqa: E402
import operator_recurrent  # noqa: E402
import operator_shapes  # noqa: E402
import operator_small  # noqa: E402
import operator_states  # noqa: E402
import operator_windows  # noqa: E402

ONNX = (*operator_windows.FAMILIES, *operator_indices.FAMILIES, *operator_numbers.FAMILIES,
        *operator_opsets.FAMILIES, *operator_recurrent.FAMILIES, *operator_states.FAMILIES,
        *operator_shapes.FAMILIES, *operator_draws.FAMILIES, *operator_einsum.FAMILIES,
        *operator_graphs.FAMILIES, *operator_small.FAMILIES)
DOMAINS = (*domain_trees.FAMILIES, *domain_models.FAMILIES, *domain_attention.FAMILIES,
           *domain_fused.FAMILIES, *domain_quantized.FAMILIES, *domain_strings.FAMILIES,
           *domain_string_moves.FAMILIES)
