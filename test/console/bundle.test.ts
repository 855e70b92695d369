import { describe, expect, it } from 'vitest'
import { bundleOf } from '../../console/bundle.ts'

const bundle = (more: object) =>
  JSON.stringify({ bundle: 1, id: 'x', actor: { id: 'ses_1', machine: 'session' }, ...more })

describe('an opened bundle', () => {
  it('gets defaults for fields that are missing or have another type', () => {
    const { actor, steps, log } = bundleOf(
      bundle({
        steps: [{ seq: 2, at: 'never', effects: 'none', messages: [null, 7, { to: 1 }] }, { seq: 1 }],
        log: [{ sequence: 1, payload: ['no'], created_at: 9 }],
      }),
    )
    expect(actor).toMatchObject({ id: 'ses_1', active: [], in_flight: [], reminders: [], related: [], parked: null })
    expect(steps.map(({ seq }) => seq)).toEqual([1, 2])
    expect(steps[1]).toMatchObject({ effects: [], messages: [{ to: '' }], at: '1970-01-01T00:00:00.000Z' })
    expect(log[0]).toMatchObject({ payload: {}, created_at: '1970-01-01T00:00:00.000Z' })
  })

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"bundle":2,"actor":{"machine":"session"}}',
    '{"bundle":1,"actor":{"machine":"../x"}}',
  ])('is refused if it is not a bundle: %s', (text) => {
    expect(() => bundleOf(text)).toThrow('is not a bundle')
  })
})
