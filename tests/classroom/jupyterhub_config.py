"""A JupyterHub for make-believe students on this machine alone; `test_classroom.py` starts it, and says where."""

import os
import secrets
from pathlib import Path

c = get_config()  # noqa: F821 (JupyterHub gives it)
own = Path(os.environ["CLASSROOM"])  # a folder for this run: the students' homes, the hub's files
entrance, hub, proxy = os.environ["CLASSROOM_PORTS"].split()

c.JupyterHub.bind_url = f"http://127.0.0.1:{entrance}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{hub}"
c.JupyterHub.db_url = f"sqlite:///{own / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(own / "cookie_secret")
c.JupyterHub.last_activity_interval = 5
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{proxy}"
c.ConfigurableHTTPProxy.auth_token = secrets.token_hex(32)
c.ConfigurableHTTPProxy.pid_file = str(own / "proxy.pid")
c.ConfigurableHTTPProxy.command = os.environ["CLASSROOM_PROXY"]

c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = os.environ["CLASSROOM_PASSWORD"]
c.Authenticator.allow_all = True

# The simple spawner gives everybody this account: good for a measurement, and for no real class.
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = f"{own}/{{username}}"
c.Spawner.cmd = [os.environ["CLASSROOM_PYTHON"], "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--LabApp.expose_app_in_browser=True", *(["--allow-root"] if os.geteuid() == 0 else [])]
c.Spawner.environment = {
    "PYTHONPATH": os.environ["CLASSROOM_PACKAGES"],  # where jupyterhub is
    "JUPYTER_CONFIG_PATH": str(own / "config"),
    "OMP_NUM_THREADS": "1",
    "JUPYTERHUB_ACTIVITY_INTERVAL": "5",
}
c.Spawner.http_timeout = c.Spawner.start_timeout = 180

# One service, which the test starts by itself when the lesson is over.
c.JupyterHub.services = [{"name": "idle-culler", "api_token": os.environ["CLASSROOM_TOKEN"]}]
scopes = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
c.JupyterHub.load_roles = [{"name": "idle-culler", "scopes": scopes, "services": ["idle-culler"]}]
