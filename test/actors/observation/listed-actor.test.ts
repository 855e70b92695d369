import { describe, expect, it } from 'vitest'
import { listedActor } from '#actors/observation/listed-actor.ts'
import type { StoredRecord } from '#storage/index.ts'

const rowOf = (data: StoredRecord['data']): StoredRecord => ({
  ...{ id: 'run_1', project: 'prj_1', tenant: null, user: null },
  ...{ version: 1, created_at: 0, updated_at: 0, expires_at: null },
  data: { status: 'completed', ...data },
})

describe('the label of a listed actor', () => {
  const label = 'Sum up the tickets'

  it('is what a run is about, not the version that it runs', () => {
    expect(listedActor('run', rowOf({ version: '1.1.0' }), { label }).label).toBe(label)
  })

  it('is the tool of a call, and the version where nothing else is known', () => {
    expect(listedActor('action', rowOf({ tool: 'refund', version: '1.1.0' }), { label }).label).toBe('refund')
    expect(listedActor('agent_version', rowOf({ version: '1.1.0' })).label).toBe('1.1.0')
  })
})
