import { RequestDetails } from '../gateway/request-details.js'
import { KnowledgeSearch } from '../knowledge/knowledge-search.js'
import { SourceChunks } from '../knowledge/source-chunks.js'
import { MemoryHistory } from '../memory/memory-history.js'
import { ServerTools } from '../tools/server-tools.js'

/**
 * What the panel of a row shows besides what is declared, by the name of its resource.
 *
 * @type {Readonly<Record<string, (props: { place: Place, row: any, done: () => void }) => import('../vendor/preact.js').ComponentChild>>}
 */
export const rowParts = {
  mcp_servers: ServerTools,
  knowledge_bases: KnowledgeSearch,
  knowledge_sources: SourceChunks,
  request_log: RequestDetails,
  memory: MemoryHistory,
}
