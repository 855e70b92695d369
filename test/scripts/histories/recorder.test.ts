import { expect, it } from 'vitest'
import { Recorder } from '#scripts/histories/recorder.ts'
import { scenarios } from '#scripts/histories/scenarios.ts'
import { openWorld } from '#test/actors/sessions/harness.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

it('a step that ends an effect is recorded as what it adds, although its commit takes over the parts before it', async () => {
  const [recorder, clock] = [new Recorder(), new VirtualClock()]
  const scenario = scenarios.find(({ name }) => name === 'cancelled')
  const world = await openWorld({ storage: recorder.storage, clock, scripts: scenario?.scripts ?? [] })
  recorder.listen(world.host)
  await scenario?.play(world, clock)
  const drained = world.runtime.drain(0)
  await clock.advance(5000)
  await drained
  const history = recorder.histories('cancelled').find(({ machine }) => machine.startsWith('session@'))
  const commits = history?.steps.slice(1, 4).map(({ event, part, commit: { events, replaces } }) => ({
    ...{ type: event.type, isPart: part !== undefined, replaces },
    events: events.map(({ event_type }) => event_type),
  }))
  expect(commits).toEqual([
    { type: 'turn', isPart: false, events: ['turn.started'] },
    { type: 'model_delta', isPart: true, events: ['output_text.delta'] },
    { type: 'cancel', isPart: false, events: ['turn.failed'] },
  ])
})
