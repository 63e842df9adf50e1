"""Files of recorded poses: read as written, and what is wrong with one is said in one line."""

import numpy as np
import pytest

from palpate.mobile.calibration.poses import Poses, read_poses, write_poses
from palpate.mobile.calibration.synthetic import Recording, record
from palpate.mobile.geometry.chain import Chain

HEADER = (
    "heading_deg,theta1_deg,theta2_deg,theta3_deg,sensor_x_mm,sensor_y_mm,sensor_z_mm,tool_x_mm,tool_y_mm,tool_z_mm"
)
ROW = "10,1,2,3,500,-300,1900,400,-200,2100"


def written(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "poses.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def test_what_was_written_is_read(tmp_path):
    poses = record(Chain(), 3)
    write_poses(tmp_path / "poses.csv", poses)
    found = read_poses(tmp_path / "poses.csv")
    for name in ("heading_rad", "sensor_m", "theta_rad", "tool_m"):
        assert getattr(found, name) == pytest.approx(getattr(poses, name), abs=1e-10)
        assert not getattr(found, name).flags.writeable


def test_columns_come_in_any_order_and_unit_among_others(tmp_path):
    poses = record(Chain(), 4, Recording(n=12))
    names = ["note", "tool_z_m", "tool_y_mm", "tool_x_m", "theta3_rad", "theta2_deg", "theta1_rad", "heading_rad",
             "sensor_x_m", "sensor_y_mm", "sensor_z_m"]  # fmt: skip
    lines = [" , ".join(names)]
    for k in range(12):
        (x, y, z), (a, b, c), (u, v, w) = poses.tool_m[k], poses.theta_rad[k], poses.sensor_m[k]
        numbers = [z, 1e3 * y, x, c, np.degrees(b), a, poses.heading_rad[k], u, 1e3 * v, w]
        lines += ['"a, b"' + "".join(f", {number!r}" for number in map(float, numbers)), ""]
    found = read_poses(written(tmp_path, "\ufeff" + "\r\n".join(lines)))
    for name in ("heading_rad", "sensor_m", "theta_rad", "tool_m"):
        assert getattr(found, name) == pytest.approx(getattr(poses, name), abs=1e-12)


@pytest.mark.parametrize(("text", "says"), [
    ("", "is empty; its first line names the columns"),
    ("\n\n", "is empty"),
    (b"\xff\xfe\x00\x01", "is no text file"),
    (HEADER + '\n"unclosed', "is no CSV file"),
    (HEADER + "\n", "has 0 poses; a calibration takes 10 to 100000"),
    (HEADER + f"\n{ROW}" * 9, "has 9 poses"),
    (HEADER.replace("theta2_deg", "theta2") + f"\n{ROW}" * 12, "no column theta2_deg or theta2_rad; it has heading_"),
    (HEADER + ",heading_rad" + f"\n{ROW},0" * 12, "more than one column of heading"),
    (HEADER + f"\n{ROW}" * 12 + "\n1,2", "line 14: 2 cells for 10 columns"),
    (HEADER + f"\n{ROW}" * 9 + "\n" + ROW.replace("-300", "much"), "line 11: sensor_y is no number: 'much'"),
    (HEADER + f"\n{ROW}" * 9 + "\n" + ROW.replace("-300", "nan"), "line 11: sensor_y_mm of nan is beyond"),
    (HEADER.replace("heading_deg", "heading_rad") + ("\n" + ROW.replace("10,1", "270,1")) * 12, "is the unit right"),
    (HEADER.replace("sensor_x_mm", "sensor_x_m") + f"\n{ROW}" * 12, "line 2: sensor_x_m of 500 is beyond 100 m"),
    (HEADER.replace("tool_x", "\x1b[31mtool") + f"\n{ROW}" * 12, r"has no column tool_x_mm or tool_x_m"),
])  # fmt: skip
def test_a_file_that_is_wrong_is_refused_in_one_line(tmp_path, text, says):
    with pytest.raises(ValueError, match="poses") as refused:
        read_poses(written(tmp_path, text))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_poses_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="tool_m of 3 poses has shape"):
        Poses(np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="not finite"):
        Poses(np.full(3, np.nan), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3)))
