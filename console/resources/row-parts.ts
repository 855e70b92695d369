import { RequestDetails } from '../gateway/request-details.ts'
import { KnowledgeSearch } from '../knowledge/knowledge-search.ts'
import { SourceChunks } from '../knowledge/source-chunks.ts'
import { MemoryHistory } from '../memory/memory-history.ts'
import { ServerTools } from '../tools/server-tools.ts'
import type { ComponentChild } from '../vendor/preact.js'

/** What the panel of a row shows besides what is declared, by the name of its resource. */
export const rowParts: Readonly<Record<string, (props: Props & { row: never }) => ComponentChild>> = {
  mcp_servers: ServerTools,
  knowledge_bases: KnowledgeSearch,
  knowledge_sources: SourceChunks,
  request_log: RequestDetails,
  memory: MemoryHistory,
}
