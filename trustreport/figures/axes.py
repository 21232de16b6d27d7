"""Axes that spare matplotlib work: ticks that are never drawn, limits that are set anyhow."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis, Tick, XAxis, YAxis
from matplotlib.patches import Rectangle


class PlainAxes(Axes):
    """Axes whose limits are set, not found from what is drawn, and whose ticks are made when needed."""

    def clear(self) -> None:
        super().clear()
        for spine in self.spines.values():
            spine.get_spine_transform()  # places it; otherwise the first tick would

    def _init_axis(self) -> None:
        self.xaxis, self.yaxis = _X(self, clear=False), _Y(self, clear=False)
        for axis, sides in ((self.xaxis, ("bottom", "top")), (self.yaxis, ("left", "right"))):
            for side in sides:
                self.spines[side].register_axis(axis)

    def _gen_axes_patch(self) -> Rectangle:
        return _Area((0.0, 0.0), 1.0, 1.0)

    def _update_line_limits(self, line: Any) -> None:
        pass

    def _update_patch_limits(self, patch: Any) -> None:
        pass


class _FewerTicks(Axis):
    """An axis without ticks at first; each that is made later looks as the settings say."""

    def reset_ticks(self) -> None:
        self.majorTicks: list[Tick] = []
        self.minorTicks: list[Tick] = []

    def _get_tick(self, major: bool) -> Tick:
        tick: Any = super()._get_tick(major)  # type: ignore[misc]
        tick.set_clip_path(self.axes.patch)  # as the axis does with those that it has
        return tick

    def _copy_tick_props(self, src: Tick, dest: Tick) -> None:
        if src is not dest:
            super()._copy_tick_props(src, dest)  # type: ignore[misc]


class _X(_FewerTicks, XAxis):
    pass


class _Y(_FewerTicks, YAxis):
    pass


class _Area(Rectangle):
    """The area of axes, to which whatever is drawn is clipped: where it lies is worked out once."""

    _placed: Any = None

    def set_transform(self, t: Any) -> None:
        super().set_transform(t)
        self._placed = None

    def get_transform(self) -> Any:
        if self._placed is None:
            self._placed = super().get_transform()
        return self._placed
