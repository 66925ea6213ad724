# SPDX-License-Identifier: Apache-2.0
"""leo study --dask with workers of this machine, one of which is killed: the study that one process makes, byte for byte."""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    from dask.distributed import Client, LocalCluster
except ImportError:
    print("no Dask here")
    sys.exit(77)

LEO, PYTHON = sys.argv[1], sys.executable
ROW = """id,soc,workload,params,metric,value,unit,source
X,ascend910b1,matmul_tiled,dtype=f16 m=256 n=512 k=256 base=128x256x64 l1_depth=2 l0_buffers=2 cores=4 split=2x2,task_us,1,us,test
"""


def main(folder):
    tape, table = folder / "tape", folder / "v.csv"
    (folder / "row.csv").write_text(ROW)
    subprocess.run([LEO, "accuracy", folder / "row.csv"], env={**os.environ, "LEO_TAPE": str(tape)}, check=True, stdout=subprocess.PIPE)
    table.write_text("name,gm.hbm_read_gb_per_s\n" + "".join(f"v{i},{30 + i}\n" for i in range(60)))
    environment = {**os.environ, "PATH": f"{pathlib.Path(PYTHON).parent}:{os.environ['PATH']}"}
    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        words = [LEO, "study", tape, "--vary", table, "--json", "--out"]
        subprocess.run([*words, folder / "whole"], check=True, stdout=subprocess.PIPE)
        with subprocess.Popen([*words, folder / "shared", "--dask", cluster.scheduler_address], env=environment, stdout=subprocess.PIPE) as study:
            worker = next(iter(client.run(os.getpid).values()))
            os.kill(worker, 9)
            study.communicate(timeout=120)
        assert study.returncode == 0, study.returncode
        assert (folder / "whole/study.json").read_bytes() == (folder / "shared/study.json").read_bytes()
        assert len((folder / "shared/results.dask.jsonl").read_text().split()) >= 64


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(pathlib.Path(place))
