import { describe, expect, it } from 'vitest'
import { connectionKeyAad, customKeyAad, customProviders, providerConnections } from '#gateway/routing/kinds.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { addProject, exported, imported, openPlace, type Place, project } from './moving.ts'

const passphrase = 'correct horse battery'
const connectionAt = { project, id: 'pvc_01m7zmd2tmj0fq6q5g34qhy8xv' }
const customAt = { project, id: '019a5d2c-7f1e-7c3a-8b11-0123456789ab' }

const tablesOf = ({ storage: { records } }: Place) => ({
  connections: new Table(records, providerConnections, Date.now),
  customs: new Table(records, customProviders, Date.now),
})

/** An installation with a connection, a custom provider with a key, and one without. */
const withKeys = async (master: number, phrase: string | null) => {
  const place = await openPlace(openMemoryStorage(), master, phrase)
  await addProject(place)
  const { connections, customs } = tablesOf(place)
  const { box } = place.secrets
  await connections.insert({
    ...connectionAt,
    data: {
      ...{ name: 'Mine', provider: 'openai', api_format: 'openai', base_url: null, key_last4: '', is_active: true },
      ...{ status: 'untested', last_tested_at_ms: null, sync_id: null, model_count: 0 },
      api_key: box.seal('sk-of-a-connection', connectionKeyAad(connectionAt)),
    },
  })
  const custom = { name: 'Rack', base_url: 'https://x.example/v1', api_format: 'openai', is_active: true } as const
  const api_key = box.seal('sk-of-a-server', customKeyAad(customAt))
  await customs.insert({ ...customAt, data: { ...custom, api_key, models: [] } })
  await customs.insert({ project, id: 'keyless', data: { ...custom, api_key: null, models: [] } })
  return place
}

const keysAt = async (place: Place) => {
  const { connections, customs } = tablesOf(place)
  const connection = await connections.get(projectScope(project), connectionAt.id)
  const custom = await customs.get(projectScope(project), customAt.id)
  const keyless = await customs.get(projectScope(project), 'keyless')
  const { box } = place.secrets
  return {
    connection: () => box.open(connection?.data.api_key ?? '', connectionKeyAad(connectionAt)),
    custom: () => box.open(custom?.data.api_key ?? '', customKeyAad(customAt)),
    keyless: keyless?.data.api_key,
  }
}

describe('the keys of providers', () => {
  it('move under a passphrase to another master key, and the file does not reveal them', async () => {
    const { file } = await exported(await withKeys(1, passphrase))
    expect(file).not.toContain('sk-of-a')
    const there = await openPlace(openMemoryStorage(), 2, passphrase)
    await imported(there, file)
    const keys = await keysAt(there)
    expect([keys.connection(), keys.custom(), keys.keyless]).toEqual(['sk-of-a-connection', 'sk-of-a-server', null])
  })

  it('that cannot be opened at the export are reported as missing, and their rows move without them', async () => {
    const place = await withKeys(1, null)
    const { file, report } = await exported(await openPlace(place.storage, 2, passphrase))
    expect(report.missing).toEqual(
      expect.arrayContaining([
        expect.stringContaining('the key of a provider connection'),
        expect.stringContaining('the key of a custom provider'),
      ]),
    )
    const there = await openPlace(openMemoryStorage(), 3, passphrase)
    await imported(there, file)
    const keys = await keysAt(there)
    expect(keys.connection).toThrow()
    expect(keys.custom).toThrow()
    expect(keys.keyless).toBeNull()
  })
})
