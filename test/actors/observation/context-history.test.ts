import { afterEach, expect, it, vi } from 'vitest'
import { definitions } from '#actors/capabilities.ts'
import { actorSteps } from '#actors/observation/actor-steps.ts'
import { contextChange } from '#runtime/step/context-change.ts'
import type { Commit } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { AnsweringModel, openRuns, startRun, untilEnd, withTools } from '../runs/run-world.ts'
import { httpTool } from '../sessions/approving.ts'
import { callOf, type World } from '../sessions/harness.ts'

vi.setConfig({ testTimeout: 60_000 })

let world: World
afterEach(() => world.runtime.drain(0))

it('the steps of an actor show the context at every commit of a run of fifty steps', async () => {
  const storage = openMemoryStorage()
  const written: Commit[] = []
  const append = storage.commits.append.bind(storage.commits)
  storage.commits.append = (commits) => {
    written.push(...structuredClone(commits))
    return append(commits)
  }
  let requestCount = 0
  const model = new AnsweringModel(() =>
    ++requestCount > 20
      ? { text: 'done' }
      : {
          toolCalls: [{ callId: 'c', name: 'post', arguments: '{"api_key":"hush-hush"}' }],
          finishReason: 'tool_calls',
        },
  )
  world = await openRuns({ agt_1: withTools(httpTool('post')) }, { storage, model })
  const run = await startRun(world, 'agt_1')
  await untilEnd(world, run)
  const call = callOf({ project_id: 'prj_a', actor_id: run }, { after: 0, limit: 200 }, undefined)
  const { data } = await actorSteps(
    { host: world.host, definitions, commits: storage.commits },
    { ...call, scope: projectScope('prj_a') },
  )
  expect(data.length).toBeGreaterThan(50)
  let shown: object = {}
  for (const { seq, context } of data) {
    shown = { ...shown, ...Object(context) }
    const commit = written.findLast((each) => each.actor === run && each.seq === seq)
    expect([seq, shown]).toEqual([seq, contextChange(null, Object(commit?.snapshot?.context))])
  }
  expect(JSON.stringify(data)).not.toContain('hush-hush')
})
