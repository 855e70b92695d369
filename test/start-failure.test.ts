import { describe, expect, it } from 'vitest'
import { startFailure } from '../src/start-failure.ts'
import { NewerStore } from '../src/storage/newer-store.ts'
import { StoreUnavailable } from '../src/storage/ports.ts'
import { VectorsUnusable } from '../src/storage/search/vector-port.ts'

const settings = { mongodbUrl: null, dataDir: '/var/troupe' }

describe('the message of a failed start', () => {
  it.for([
    [5, 'is locked by another process'],
    [11 + 256, 'is damaged'],
    [14, 'cannot be opened'],
    [26, 'is not a database'],
  ] as const)('is one sentence for SQLite code %i and names the file', ([errcode, says]) => {
    const cause = Object.assign(new Error('sqlite'), { errcode })
    const shown = startFailure(new StoreUnavailable('sqlite does not answer', { cause }), settings)
    expect(shown).toContain(`/var/troupe/troupe.db ${says}`)
    expect(shown?.split('\n')).toHaveLength(1)
  })

  it('is that of the error for a store of a newer release', () => {
    expect(startFailure(new NewerStore('It is newer.'), settings)).toBe('It is newer.')
  })

  it('is that of the error for vectors that cannot be used, also beside MongoDB', () => {
    const error = new VectorsUnusable('Install it.', { cause: new StoreUnavailable('away') })
    expect(startFailure(error, { mongodbUrl: 'mongodb://db:27017/troupe', dataDir: './data' })).toBe('Install it.')
  })

  it('names the hosts of MongoDB, but not its password', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { name: 'MongoServerSelectionError' })
    const mongodbUrl = 'mongodb://ada:secret@db1:27017,db2:27017/troupe?tls=true'
    const shown = startFailure(new StoreUnavailable('mongodb does not answer', { cause }), { ...settings, mongodbUrl })
    expect(shown).toContain('MongoDB at mongodb://db1:27017,db2:27017/troupe does not respond (connect ECONNREFUSED)')
    expect(shown).not.toContain('secret')
  })

  it('reports that MongoDB refuses the credentials', () => {
    const error = Object.assign(new Error('Authentication failed.'), { name: 'MongoServerError', code: 18 })
    expect(startFailure(error, { ...settings, mongodbUrl: 'mongodb://a:b@db/x' })).toContain('refuses the user or the')
  })

  it('is one sentence when the file descriptor limit is too low', () => {
    const error = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', path: '/console/app.ts' })
    expect(startFailure(error, settings)).toBe(
      'The file descriptor limit of this process is too low: set it to 256 or more (ulimit -n, or LimitNOFILE in systemd).',
    )
  })

  it('is null for an unexpected error', () => {
    expect(startFailure(new TypeError('x is undefined'), settings)).toBeNull()
  })
})
