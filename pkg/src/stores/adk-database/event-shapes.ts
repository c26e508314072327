// The events of adk-python 2.13 (google-genai's and its own models), as they are written to `events.event_data`.

/**
 * Each model is a line, and those that go on from it: its name, `+` where it keeps members that it does not know, and
 * its members: the name under which each is stored, `=` and the name in JSON where that is not the same in camelCase,
 * `!` where it has to be there, and what it is. Of two stored names for one name in JSON the first is written. `any`
 * belongs to the user, and nothing in it is renamed; `{}` are entries under names of the user, `[]` is a list, `time`
 * is in seconds and in milliseconds in JSON, `bytes` are base64, for URLs where they are stored.
 *
 * Printed by tests/hosts/adk-python/shapes.py, and held against it by the test beside that.
 */
export const SHAPES = `
AuthConfig+: auth_scheme!:AuthScheme raw_auth_credential:AuthCredential exchanged_auth_credential:AuthCredential
  credential_key:str
AuthCredential+: auth_type!:('apiKey'|'http'|'oauth2'|'openIdConnect'|'serviceAccount') resource_ref:str api_key:str
  http:HttpAuth service_account:ServiceAccount oauth2:OAuth2Auth
AuthScheme+: type!:str in:any type_=type:str in_=in:any
Blob: data:bytes display_name:str mime_type:str
CacheMetadata: cache_name=cache_name:str expire_time=expire_time:float fingerprint!:str
  invocations_used=invocations_used:int contents_count=contents_count!:int created_at=created_at:float
Citation: end_index:int license:str publication_date:GoogleTypeDate start_index:int title:str uri:str
CitationMetadata: citations:Citation[]
CodeExecutionResult: outcome:str output:str id:str
Content: parts:Part[] role:str
Event: model_version:str content:Content grounding_metadata:GroundingMetadata partial:bool turn_complete:bool
  turn_complete_reason:str interaction_status:str finish_reason:str error_code:str error_message:str interrupted:bool
  custom_metadata:any{} usage_metadata:GenerateContentResponseUsageMetadata
  live_session_resumption_update:LiveServerSessionResumptionUpdate live_session_id:str go_away:LiveServerGoAway
  voice_activity:VoiceActivity input_transcription:Transcription output_transcription:Transcription avg_logprobs:float
  logprobs_result:LogprobsResult cache_metadata:CacheMetadata citation_metadata:CitationMetadata interaction_id:str
  environment_id:str invocation_id:str author:str actions:EventActions output:any node_info:NodeInfo
  long_running_tool_ids:str[] branch:str isolation_scope:str id:str timestamp:time
EventActions: skip_summarization:bool state_delta:any{} artifact_delta:int{} transfer_to_agent:str transfer_reason:str
  escalate:bool requested_auth_configs:AuthConfig{} requested_tool_confirmations:ToolConfirmation{}
  compaction:EventCompaction end_of_agent:bool agent_state:any{} rewind_before_invocation_id:str
  route:(bool|int|str|(bool|int|str)[]) render_ui_widgets:UiWidget[] set_model_response:any
EventCompaction: start_timestamp!:float end_timestamp!:float compacted_content!:Content
ExecutableCode: code:str language:str id:str
FileData: display_name:str file_uri:str mime_type:str
FunctionCall: id:str args:any{} name:str partial_args:PartialArg[] will_continue:bool
FunctionResponse: will_continue:bool scheduling:str parts:FunctionResponsePart[] id:str name:str response:any{}
FunctionResponseBlob: mime_type:str data:bytes display_name:str
FunctionResponseFileData: file_uri:str mime_type:str display_name:str
FunctionResponsePart: inline_data:FunctionResponseBlob file_data:FunctionResponseFileData media_processing:str
GenerateContentResponseUsageMetadata: cache_tokens_details:ModalityTokenCount[] cached_content_token_count:int
  candidates_token_count:int candidates_tokens_details:ModalityTokenCount[] prompt_token_count:int
  prompt_tokens_details:ModalityTokenCount[] thoughts_token_count:int tool_use_prompt_token_count:int
  tool_use_prompt_tokens_details:ModalityTokenCount[] total_token_count:int traffic_type:str
GoogleTypeDate: day:int month:int year:int
GroundingChunk: image:GroundingChunkImage maps:GroundingChunkMaps retrieved_context:GroundingChunkRetrievedContext
  web:GroundingChunkWeb
GroundingChunkCustomMetadata: key:str numeric_value:float string_list_value:GroundingChunkStringList string_value:str
GroundingChunkImage: source_uri:str image_uri:str title:str domain:str
GroundingChunkMaps: place_answer_sources:GroundingChunkMapsPlaceAnswerSources place_id:str text:str title:str uri:str
  route:GroundingChunkMapsRoute
GroundingChunkMapsPlaceAnswerSources: review_snippet:GroundingChunkMapsPlaceAnswerSourcesReviewSnippet[]
  flag_content_uri:str review_snippets:GroundingChunkMapsPlaceAnswerSourcesReviewSnippet[]
GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution: display_name:str photo_uri:str uri:str
GroundingChunkMapsPlaceAnswerSourcesReviewSnippet:
  author_attribution:GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution flag_content_uri:str google_maps_uri:str
  relative_publish_time_description:str review:str review_id:str title:str
GroundingChunkMapsRoute: distance_meters:int duration:str encoded_polyline:str
GroundingChunkRetrievedContext: document_name:str rag_chunk:RagChunk text:str title:str uri:str
  custom_metadata:GroundingChunkCustomMetadata[] file_search_store:str page_number:int media_id:str
GroundingChunkStringList: values:str[]
GroundingChunkWeb: domain:str title:str uri:str
GroundingMetadata: image_search_queries:str[] grounding_chunks:GroundingChunk[] grounding_supports:GroundingSupport[]
  retrieval_metadata:RetrievalMetadata search_entry_point:SearchEntryPoint web_search_queries:str[]
  google_maps_widget_context_token:str retrieval_queries:str[]
  source_flagging_uris:GroundingMetadataSourceFlaggingUri[]
GroundingMetadataSourceFlaggingUri: flag_content_uri:str source_id:str
GroundingSupport: confidence_scores:float[] grounding_chunk_indices:int[] segment:Segment rendered_parts:int[]
HttpAuth+: scheme!:str credentials!:HttpCredentials additional_headers:str{}
HttpCredentials+: username:str password:str token:str
LiveServerGoAway: time_left:str
LiveServerSessionResumptionUpdate: new_handle:str resumable:bool last_consumed_client_message_index:int
LogprobsResult: chosen_candidates:LogprobsResultCandidate[] top_candidates:LogprobsResultTopCandidates[]
  log_probability_sum:float
LogprobsResultCandidate: log_probability:float token:str token_id:int
LogprobsResultTopCandidates: candidates:LogprobsResultCandidate[]
ModalityTokenCount: modality:str token_count:int
NodeInfo: path:str output_for:str[] message_as_output:bool
OAuth2Auth+: client_id:str client_secret:str auth_uri:str nonce:str state:str redirect_uri:str auth_response_uri:str
  auth_code:str access_token:str refresh_token:str id_token:str expires_at:int expires_in:int audience:str prompt:str
  code_verifier:str code_challenge_method:str
  token_endpoint_auth_method:('client_secret_basic'|'client_secret_post'|'client_secret_jwt'|'private_key_jwt')
Part: media_resolution:PartMediaResolution code_execution_result:CodeExecutionResult executable_code:ExecutableCode
  file_data:FileData function_call:FunctionCall function_response:FunctionResponse inline_data:Blob text:str
  thought:bool thought_signature:bytes video_metadata:VideoMetadata tool_call:ToolCall tool_response:ToolResponse
  part_metadata:any{} audio_transcription:Transcription media_processing:str speech_metadata:SpeechMetadata
PartMediaResolution: level:str num_tokens:int
PartialArg: bool_value:bool json_path:str null_value:'NULL_VALUE' number_value:float string_value:str
  will_continue:bool
RagChunk: page_span:RagChunkPageSpan text:str chunk_id:str file_id:str
RagChunkPageSpan: first_page:int last_page:int
RetrievalMetadata: google_search_dynamic_retrieval_score:float
SearchEntryPoint: rendered_content:str sdk_blob:bytes
Segment: start_index:int end_index:int part_index:int text:str
ServiceAccount+: service_account_credential:ServiceAccountCredential scopes:str[] use_default_credential:bool
  use_id_token:bool audience:str
ServiceAccountCredential+: type_=type:str project_id!:str private_key_id!:str private_key!:str client_email!:str
  client_id!:str auth_uri!:str token_uri!:str auth_provider_x509_cert_url!:str client_x509_cert_url!:str
  universe_domain!:str
SpeechMetadata: speaker:str style:str
ToolCall: id:str tool_type:str args:any{}
ToolConfirmation: hint:str confirmed:bool payload:any
ToolResponse: id:str tool_type:str response:any{}
Transcription: text:str finished:bool language_code:str speaker_label:str words:WordInfo[] start_offset:str
  end_offset:str
UiWidget: id!:str provider!:str payload:any{}
VideoMetadata: end_offset:str fps:float start_offset:str
VoiceActivity: voice_activity_type:str audio_offset:str
WordInfo: word:str start_offset:str end_offset:str
`;
