import type { PageResponse } from '@anthropic-ai/sdk/core/pagination'
import type { ModelInfo } from '@anthropic-ai/sdk/resources/models'
import type { ModelRow } from './model-rows.ts'

/** A model as Anthropic's SDKs read it. What is not known of models in general (release, limit of output) is null. */
export const anthropicModel = ({ id, name, created, context_window, status }: ModelRow): ModelInfo => ({
  type: 'model',
  id,
  display_name: name,
  created_at: new Date(created * 1000).toISOString(),
  lifecycle: status,
  max_input_tokens: context_window === 0 ? null : context_window,
  max_tokens: null,
  capabilities: null,
  deprecated_at: null,
  retires_at: null,
  line: null,
})

/** All models that Anthropic's API reaches here, on one page. */
export const anthropicModels = (rows: readonly ModelRow[]): PageResponse<ModelInfo> => {
  const data = rows.filter(({ types }) => types.includes('chat')).map(anthropicModel)
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}
