import type { PageResponse } from '@anthropic-ai/sdk/core/pagination'
import type { ModelInfo } from '@anthropic-ai/sdk/resources/models'
import type { ModelRow } from './model-rows.ts'

/**
 * Converts a model to the form of Anthropic's SDKs. Values that the registry does not have for all models (maximum
 * output, deprecation dates) are null.
 */
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

/** Returns all chat models as one page of Anthropic's model list. */
export const anthropicModels = (rows: readonly ModelRow[]): PageResponse<ModelInfo> => {
  const data = rows.filter(({ types }) => types.includes('chat')).map(anthropicModel)
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}
