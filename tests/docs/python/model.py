"""Models of ADK answer with a text, without a network: that of the variable MODEL_SAYS."""

import os
from collections.abc import AsyncGenerator

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry
from google.genai import types


class Saying(BaseLlm):
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=os.environ["MODEL_SAYS"])]))


LLMRegistry.new_llm = staticmethod(lambda name: Saying(model=name))
