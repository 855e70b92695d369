import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { cloudBody, countFailure, type MessagesCloud } from '../anthropic/cloud-messages.ts'
import type { MessagesService } from '../anthropic/messages-service.ts'
import { googleFailure } from '../google/google-failure.ts'

/** Whether a model is one of Anthropic's. */
export const isClaude = (model: string): boolean => model.startsWith('claude-')

const kept = [
  ...['compact-2026-01-12', 'computer-use-2025-01-24', 'computer-use-2025-11-24', 'context-1m-2025-08-07'],
  ...['context-management-2025-06-27', 'interleaved-thinking-2025-05-14', 'tool-search-tool-2025-10-19'],
  'web-search-2025-03-05',
]

/** What Vertex AI has of Anthropic's Messages API: it refuses other beta features, tools and fields. */
export const vertexClaude: MessagesCloud = {
  version: 'vertex-2023-10-16',
  tools: {
    ...{ bash_: null, text_editor_: null, computer_: null, memory_: 'context-management-2025-06-27' },
    ...{ tool_search_tool_: 'tool-search-tool-2025-10-19', web_search_2025: 'web-search-2025-03-05' },
  },
  betas: {
    ...Object.fromEntries(kept.map((name) => [name, name])),
    'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19',
  },
  without: [],
  ran: ['tool_search_tool', 'web_search'],
}

/** Claude on Vertex AI by Anthropic's Messages API. Tokens are counted at a model of its own, which the body names. */
export const vertexMessages: MessagesService = {
  tools: Object.keys(vertexClaude.tools),
  fields: ['context_management'],
  betas: true,
  count: () => ({
    path: '/publishers/anthropic/models/count-tokens:rawPredict',
    headers: {},
    encode: (document) => ({
      contentType: 'application/json',
      body: encodeJson({ ...cloudBody(document, vertexClaude), model: document.model }),
    }),
    failure: countFailure(googleFailure),
  }),
}
