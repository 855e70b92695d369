import type { RunConcurrency } from '#actors/runs/pick-runs.ts'
import type { ToolDeclaration } from '#actors/sessions/turns/turn-config.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { derivedId } from '#runtime/ids.ts'
import { agentConfigOf, type WorldOptions } from '#test/actors/sessions/harness.ts'
import { Random } from '../world/random.ts'

/** The agents that each agent may delegate to. */
export const subagentsOf: Readonly<Record<string, readonly string[]>> = {
  agt_lead: ['agt_mid', 'agt_leaf'],
  agt_mid: ['agt_leaf'],
  agt_leaf: [],
}

/** The version of an agent that callers delegate to. */
export const versionOf = (project: string, agent: string): string => derivedId('agv', 1, `${project}/${agent}`)

/** The project whose webhook is notified of everything, and the id of that webhook. */
export const notifiedProject = 'prj_a'
export const webhookId = derivedId('whk', 1, notifiedProject)

/** The setting of a seed's runs: agents, concurrency limits, and whether a webhook is notified. */
export interface RunSetting extends Required<Pick<WorldOptions, 'agents' | 'concurrency' | 'notifiesWebhooks'>> {
  readonly concurrency: RunConcurrency
}

/** Determined by the seed alone, so that every process has the same. */
export const runSettingOf = (seed: number): RunSetting => {
  const random = new Random(`${seed}/setting`)
  const perTenant = random.between(1, 2)
  return {
    concurrency: { perProject: random.between(perTenant, 3), perTenant },
    notifiesWebhooks: random.chance(0.2),
    agents: async ({ agentId, version, project }) =>
      agentConfigOf(agentId, {
        agent_version_id: version === null ? null : versionOf(project, agentId),
        version,
        config: { ...noAgent, tools: toolsOf(`${seed}/${agentId}`) },
        source: { limits: limitsOf(`${seed}/${agentId}`) },
        approval_policy: policyOf(`${seed}/${agentId}`),
        subagents: (subagentsOf[agentId] ?? []).map((each) => ({ agent_id: each, version: null, description: null })),
      }),
  }
}

const toolsOf = (key: string): readonly ToolDeclaration[] => {
  const random = new Random(`${key}/tools`)
  const one = (name: string): ToolDeclaration => {
    const expiry = random.chance(0.4) ? { expires_in: random.between(1, 6) } : {}
    const needsApproval = random.chance(0.5)
    if (random.chance(0.25)) return { type: 'function', function: { name }, needsApproval, ...expiry }
    const effect = random.chance(0.5) ? 'idempotent' : 'at_most_once'
    return { type: 'http', name, url: 'http://127.0.0.1:9/', needsApproval, effect, ...expiry }
  }
  return ['first', 'second'].slice(0, random.between(0, 2)).map(one)
}

const limitsOf = (key: string) => {
  const random = new Random(`${key}/limits`)
  return {
    max_steps: random.between(2, 5),
    ...(random.chance(0.2) && { max_duration_s: random.between(2, 40) }),
  }
}

const policyOf = (key: string) =>
  new Random(`${key}/policy`).chance(0.2) ? ({ default: 'auto', tools: { second: 'deny' } } as const) : null
