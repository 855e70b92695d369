import { describe, expect, it } from 'vitest'
import { ConnectionVault } from '#actors/connections/connection-vault.ts'
import { ServerHeaders } from '#actors/mcp/server-headers.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { addProject, exported, imported, openPlace, type Place, project } from './moving.ts'

const passphrase = 'correct horse battery'
const at = { id: 'con_01m7zmd2tmj0fq6q5g34qhy8xv', owner: { project, tenant: 'ten_1', user: 'ann' } }
const server = { project, tenant: null, id: 'mcp_01m7zmd2tmj0fq6q5g34qhy8xv', url: 'https://tools.example/mcp' }
const grant = { access_token: 'at-of-ann', refresh_token: 'rt-of-ann' }

const opened = ({ storage: { records }, secrets: { box } }: Place) => ({
  vault: new ConnectionVault({ records, box, now: Date.now }),
  headers: new ServerHeaders({ records, box, now: Date.now }),
})

const withSecrets = async (master: number, phrase: string | null): Promise<Place> => {
  const place = await openPlace(openMemoryStorage(), master, phrase)
  await addProject(place)
  const { vault, headers } = opened(place)
  await vault.putClientSecret(at, 'secret-of-the-client')
  await vault.putGrant(at, grant, { generation: 3, granted: null })
  await headers.keep(server, { authorization: 'Bearer of-the-server' })
  return place
}

const secretsAt = async (place: Place) => {
  const { vault, headers } = opened(place)
  const { clientSecret, generation, grant: tokens } = await vault.open({ project, id: at.id })
  return { clientSecret, generation, grant: tokens, headers: await headers.open(server) }
}

describe('secrets of connections and tool servers', () => {
  it('move under a passphrase to another master key, and the file does not reveal them', async () => {
    const { file } = await exported(await withSecrets(1, passphrase))
    for (const secret of ['at-of-ann', 'rt-of-ann', 'secret-of-the-client', 'of-the-server'])
      expect(file).not.toContain(secret)
    const there = await openPlace(openMemoryStorage(), 2, passphrase)
    await imported(there, file)
    expect(await secretsAt(there)).toEqual({
      ...{ clientSecret: 'secret-of-the-client', generation: 3, grant },
      headers: { authorization: 'Bearer of-the-server' },
    })
    const underTheOld = await openPlace(there.storage, 1)
    expect(await secretsAt(underTheOld)).toMatchObject({ clientSecret: null, grant: null, headers: {} })
  })

  it('cannot be opened under another master key, and can be set again', async () => {
    const place = await withSecrets(1, null)
    const other = await openPlace(place.storage, 2)
    expect(await secretsAt(other)).toEqual({ clientSecret: null, generation: 3, grant: null, headers: {} })
    await opened(other).vault.putGrant(at, { ...grant, access_token: 'new' }, { generation: 4, granted: null })
    expect(await secretsAt(other)).toMatchObject({ generation: 4, grant: { access_token: 'new' } })
  })

  it('are left out of a file, or of an import, that cannot open them, and all else is imported', async () => {
    const place = await withSecrets(1, null)
    const lost = 'headers of a remote tool server: set them again'
    const there = await openPlace(openMemoryStorage(), 2)
    const { missing } = await imported(there, (await exported(place)).file)
    expect(missing).toContain(lost)
    expect(await secretsAt(there)).toEqual({ clientSecret: null, generation: 3, grant: null, headers: {} })
    const { file, report } = await exported(await openPlace(place.storage, 2, passphrase))
    expect(report.missing).toContain(lost)
    const third = await openPlace(openMemoryStorage(), 3, passphrase)
    await imported(third, file)
    expect(await secretsAt(third)).toMatchObject({ generation: 3, headers: {} })
  })

  it('cannot be opened for another connection', async () => {
    const place = await withSecrets(1, null)
    const { records } = place.storage
    const { vault } = opened(place)
    const theirs = { ...at, id: 'con_01m7zmd2tmj0fq6q5g34qhy8xw' }
    await vault.putGrant(theirs, grant, { generation: 1, granted: null })
    const kind = { name: 'connection_secrets' }
    const { projectScope } = await import('#storage/scope.ts')
    const [mine] = await records.list(kind, projectScope(project), { limit: 10, ascending: true })
    const row = await records.get(kind, projectScope(project), theirs.id)
    if (mine === undefined || row === null) throw new Error('no secrets')
    await records.replace(kind, {
      ...row,
      version: row.version + 1,
      data: { ...row.data, grant: mine.data.grant ?? '' },
    })
    expect((await vault.open({ project, id: theirs.id })).grant).toBeNull()
  })
})
