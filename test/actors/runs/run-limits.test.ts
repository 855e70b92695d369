import { describe, expect, it } from 'vitest'
import { type PlanParts, planRun } from '#actors/runs/plan-run.ts'
import { TurnConfigs } from '#actors/sessions/turns/turn-config.ts'
import type { RunCeilings } from '#specs/run-limits.ts'
import type { JsonObject } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { agentConfigOf } from '../sessions/harness.ts'

const none: RunCeilings = { maxSteps: null, maxTokens: null, maxCostUsd: null, maxDurationS: null }

const limitsFor = async (source: JsonObject, ceilings: Partial<RunCeilings> = {}) => {
  const parts: PlanParts = {
    configs: new TurnConfigs(openMemoryStorage().blobs),
    checkModel: () => {},
    defaultModel: () => 'scripted-1',
    ceilings: { ...none, ...ceilings },
  }
  const { limits } = await planRun(parts, {
    runId: 'run_1',
    project: 'prj_a',
    tenant: null,
    user: null,
    resolved: agentConfigOf('agt_1', { source }),
    input: { prompt: 'go' },
    createdBy: null,
  })
  return limits
}

describe('the limits of a run', () => {
  it('are 50 steps and 7 days by default', async () => {
    expect(await limitsFor({})).toEqual({
      max_steps: 50,
      max_tokens: null,
      max_cost_usd: null,
      max_duration_ms: 604_800_000,
    })
  })

  it('are those of its agent', async () => {
    const limits = { max_steps: 120, max_tokens: 5000, max_cost_usd: 0.1, max_duration_s: 60 }
    expect(await limitsFor({ limits })).toEqual({
      max_steps: 120,
      max_tokens: 5000,
      max_cost_usd: '0.1',
      max_duration_ms: 60_000,
    })
  })

  it('are those of the configuration if they are lower, or if the agent has none', async () => {
    const ceilings = { maxSteps: 20, maxTokens: 4000, maxCostUsd: '0.05', maxDurationS: 30 }
    const bounded = { max_steps: 20, max_tokens: 4000, max_cost_usd: '0.05', max_duration_ms: 30_000 }
    expect(await limitsFor({}, ceilings)).toEqual(bounded)
    const more = { max_steps: 120, max_tokens: 5000, max_cost_usd: 0.1, max_duration_s: 60 }
    expect(await limitsFor({ limits: more }, ceilings)).toEqual(bounded)
    const less = { max_steps: 2, max_tokens: 10, max_cost_usd: 0, max_duration_s: 1 }
    expect(await limitsFor({ limits: less }, ceilings)).toEqual({
      max_steps: 2,
      max_tokens: 10,
      max_cost_usd: '0',
      max_duration_ms: 1000,
    })
  })

  it('stay at 50 steps if the configuration allows more', async () => {
    expect(await limitsFor({}, { maxSteps: 200 })).toMatchObject({ max_steps: 50 })
  })
})
