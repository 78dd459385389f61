"""Where the weights of a meta-estimator go: scikit-learn's metadata routing."""

from inspect import signature
from typing import Any

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing


class WeightRouter(MetaEstimatorMixin):
    """A meta-estimator that hands the weights of the examples on to the estimator inside.

    It has no request of its own. A subclass says so of each method, as in
    ``__metadata_request__fit = {"sample_weight": UNUSED}``.
    """

    estimator: Any

    def _base(self) -> Any:
        return self.estimator

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets which metadata, as scikit-learn's meta-estimators say it.

        Returns
        -------
        MetadataRouter
        """
        methods = MethodMapping().add(caller="fit", callee="fit")
        if hasattr(self, "partial_fit"):
            methods.add(caller="partial_fit", callee="partial_fit")
        router = MetadataRouter(owner=type(self).__name__)
        return router.add_self_request(self).add(estimator=self._base(), method_mapping=methods)

    def _check_weights_wanted(self, method: str, sample_weight: ArrayLike | None) -> None:
        """Refuse weights that the estimator does not get: with metadata routing it asks for them."""
        base = self._base()
        if sample_weight is None:
            return
        if get_config()["enable_metadata_routing"]:
            process_routing(self, method, sample_weight=sample_weight)
        elif "sample_weight" not in signature(getattr(base, method)).parameters:
            raise ValueError(f"sample_weight is given, but {base!r} does not take it")
