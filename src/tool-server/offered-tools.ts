import type { Operation } from '#specs/dsl/declare.ts'
import { actions } from '#specs/resources/actions/actions.ts'
import { agents } from '#specs/resources/agents.ts'
import { knowledgeBases } from '#specs/resources/knowledge/knowledge-bases.ts'
import { knowledgeSearch } from '#specs/resources/knowledge/knowledge-search.ts'
import { knowledgeSources } from '#specs/resources/knowledge/knowledge-sources.ts'
import { memory } from '#specs/resources/memory.ts'
import { runs } from '#specs/resources/runs.ts'
import { sessions } from '#specs/resources/sessions.ts'
import { browserJobs } from '#specs/resources/web/browse.ts'
import { webCrawl } from '#specs/resources/web/web-crawl.ts'
import { webExtract } from '#specs/resources/web/web-extract.ts'
import { webFetch } from '#specs/resources/web/web-fetch.ts'
import { webSearch } from '#specs/resources/web/web-search.ts'
import { webTakedown } from '#specs/resources/web/web-takedowns.ts'

/** Access of a client: `read` tools change nothing, `write` adds those that do. */
export const toolModes = ['read', 'write'] as const

/** One of `toolModes`. */
export type ToolMode = (typeof toolModes)[number]

/** A tool with the operation that it calls. */
export interface OfferedTool {
  readonly name: string
  readonly mode: ToolMode
  readonly operation: Operation
}

const reads: Readonly<Record<string, Operation>> = {
  web_search: webSearch['web.search'],
  web_fetch: webFetch['web.fetch'],
  web_extract: webExtract['web.extract'],
  get_web_browser_job: browserJobs['browser_jobs.get'],
  list_agents: agents['agents.list'],
  list_sessions: sessions['sessions.list'],
  get_session: sessions['sessions.get'],
  list_session_events: sessions['sessions.events'],
  list_runs: runs['runs.list'],
  get_run: runs['runs.get'],
  list_approvals: actions['actions.list'],
  get_approval: actions['actions.get'],
  search_memory: memory['memory.search'],
  list_memory: memory['memory.list'],
  list_knowledge_bases: knowledgeBases['knowledge_bases.list'],
  search_knowledge: knowledgeSearch['knowledge_bases.search'],
}

const writes: Readonly<Record<string, Operation>> = {
  web_crawl: webCrawl['web.crawl'],
  request_web_takedown: webTakedown['web.takedown'],
  web_browse: browserJobs['browser_jobs.create'],
  cancel_web_browser_job: browserJobs['browser_jobs.cancel'],
  create_session: sessions['sessions.create'],
  send_turn: sessions['sessions.turns'],
  create_run: runs['runs.create'],
  cancel_run: runs['runs.cancel'],
  approve: actions['actions.approve'],
  reject: actions['actions.reject'],
  write_memory: memory['memory.write'],
  forget_memory: memory['memory.delete'],
  create_knowledge_base: knowledgeBases['knowledge_bases.create'],
  add_knowledge_source: knowledgeSources['knowledge_sources.create'],
}

const toolsOf = (operations: Readonly<Record<string, Operation>>, mode: ToolMode): readonly OfferedTool[] =>
  Object.entries(operations).map(([name, operation]) => ({ name, mode, operation }))

/** All tools. */
export const offeredTools: readonly OfferedTool[] = [...toolsOf(reads, 'read'), ...toolsOf(writes, 'write')]

/** Returns the tools of a mode; `write` includes those of `read`. */
export const toolsFor = (mode: ToolMode): readonly OfferedTool[] =>
  offeredTools.filter((tool) => tool.mode === 'read' || mode === 'write')
