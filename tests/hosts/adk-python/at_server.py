"""google-adk's VertexAiSessionService, as it is, with the address of a server of statepad."""

import random

from google.adk.sessions import VertexAiSessionService

# Its client waits for 1 to 10 seconds before it sends again what was cut off: these tests wait for the shortest time.
random.randint = lambda least, most: least


def service_at(url, token, app):
  service = VertexAiSessionService(agent_engine_id=app)
  service._express_mode_api_key = token
  service._api_client_http_options_override = lambda: {"base_url": url}
  return service
