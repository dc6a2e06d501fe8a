"""Matrix products of thinc's networks in 16 bits. Needs torch: to be imported only
where that is wanted."""

from typing import Any, Optional

import torch
from thinc.api import NumpyOps
from thinc.types import Floats2d

from ..devices import leave_threads


class HalfOps(NumpyOps):  # type: ignore[misc]
    """numpy, but for the products of matrices: these are of bfloat16 numbers, added up
    in 32 bits, as torch has them.

    Of two processors with instructions for it (avx512_bf16), one of AMD multiplied
    twice as fast so, and one of Intel, which had no amx_bf16, was slower.
    """

    def gemm(
        self,
        x: Floats2d,
        y: Floats2d,
        out: Optional[Floats2d] = None,
        trans1: bool = False,
        trans2: bool = False,
    ) -> Floats2d:
        """The product of two matrices, as of `thinc.api.Ops`."""
        leave_threads()
        left, right = self._rounded(x), self._rounded(y)
        product = (left.T if trans1 else left) @ (right.T if trans2 else right)
        found: Any = product.float().numpy()
        if out is None:
            return found  # type: ignore[no-any-return]
        out[:] = found
        return out

    def _rounded(self, x: Any) -> torch.Tensor:
        return torch.from_numpy(self.as_contig(x)).to(torch.bfloat16)
