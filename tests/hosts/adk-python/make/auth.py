"""A request for credentials that has a bit of everything, for what the scripts of this folder make."""

from fastapi.openapi.models import OAuth2, OAuthFlowAuthorizationCode, OAuthFlows
from google.adk.auth.auth_credential import AuthCredential, AuthCredentialTypes, OAuth2Auth
from google.adk.auth.auth_tool import AuthConfig


def auth_config():
  code = OAuthFlowAuthorizationCode(
      authorizationUrl="https://auth.test/a", tokenUrl="https://auth.test/t", scopes={"read_all": "reads all"}
  )
  credential = AuthCredential(auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(client_id="id_1"))
  scheme = OAuth2(flows=OAuthFlows(authorizationCode=code))
  return AuthConfig(auth_scheme=scheme, raw_auth_credential=credential)
