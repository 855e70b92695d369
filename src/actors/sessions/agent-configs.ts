import { projectScope } from '../../../specs/scope.ts'
import type { RecordStore } from '../../storage/ports.ts'
import { RecheckCache } from '../auth/recheck-cache.ts'
import { type AgentData, agents } from '../records/kinds.ts'
import { Table } from '../records/table.ts'
import type { AgentConfig } from './turn-plan.ts'

/** A change of an agent reaches the turns of every node within this time, in ms. */
const recheckMs = 1000
const maxCached = 10_000

/** What agents bring to the turns of their sessions. */
export class AgentConfigs {
  readonly #cache: RecheckCache<AgentConfig>

  constructor({ records, now }: { readonly records: RecordStore; readonly now: () => number }) {
    const table = new Table(records, agents, now)
    this.#cache = new RecheckCache({
      load: async (key) => {
        const [project = '', agent = ''] = key.split('/')
        const row = await table.get(projectScope(project), agent)
        return row === null ? null : configOf(row.data)
      },
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
  }

  /** null for an agent that the project does not have. @throws {StoreUnavailable} */
  of(project: string, agent: string): AgentConfig | null | Promise<AgentConfig | null> {
    if (agent.includes('/')) return null
    const key = `${project}/${agent}`
    return this.#cache.peek(key) ?? this.#cache.load(key)
  }
}

const configOf = ({ config }: AgentData): AgentConfig => ({
  model: config.model,
  system_prompt: [config.system_prompt, config.instructions].filter(Boolean).join('\n\n') || null,
  tools: config.tools ?? [],
  temperature: config.temperature ?? null,
  max_tokens: config.max_tokens ?? null,
  pause_on_tool_calls: config.pause_on_tool_calls ?? null,
})
