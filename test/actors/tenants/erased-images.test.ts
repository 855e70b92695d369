import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { kinds } from '#actors/capabilities.ts'
import { actionRows, sessionRows } from '#actors/sessions/kinds.ts'
import { OwnerEraser } from '#actors/tenants/owner-eraser.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { callOf, collect, openWorld, type World } from '../sessions/harness.ts'

const picture = png(640, 480)
const image = { type: 'input_image', image_url: `data:image/png;base64,${picture.toString('base64')}` }

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const sqlite = () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-images-'))
  const storage = openSqliteStorage({ path: join(folder, 'troupe.db') })
  closing.push(
    () => rmSync(folder, { recursive: true }),
    () => storage.close(),
  )
  return storage
}

const by = (tenant: string, user: string): Principal => ({
  ...{ kind: 'client_token', project: 'prj_a', tenant, user, sessionId: null },
  ...{ permissions: ['sessions:turn'], installationIds: [] },
})

/** A session with a turn with an image, and a fork of it. */
const pictured = async ({ useCases }: World, principal: Principal): Promise<readonly string[]> => {
  const { id } = await useCases['sessions.create'](callOf({}, {}, { metadata: {} }, principal))
  const { stream } = await useCases['sessions.turns'](callOf({ session_id: id }, {}, { input: [image] }, principal))
  await collect(stream)
  return [id, (await useCases['sessions.fork'](callOf({ session_id: id }, {}, {}, principal))).id]
}

describe.each([
  ['memory', openMemoryStorage],
  ['SQLite', sqlite],
])('the bytes of images in the store in %s', (_, store) => {
  const open = async () => {
    const storage = store()
    const world = await openWorld({ storage })
    closing.push(() => world.runtime.drain(0))
    const actorRows = [sessionRows, actionRows]
    const owned = new OwnerEraser({ storage, host: world.host, clock: world.clock, kinds, actorRows })
    /** Bytes of all images, by tenant. */
    const bytes = async () => {
      const names = (await storage.blobs.hashes('prj_a', null, 100)).filter((name) => name.includes('.image.'))
      const sizes = names.map(async (name) => [
        name.split('.')[0] ?? '',
        (await storage.blobs.bytes('prj_a', name))?.length ?? 0,
      ])
      const sums: Record<string, number> = {}
      for (const [tenant, size] of await Promise.all(sizes))
        sums[String(tenant)] = (sums[String(tenant)] ?? 0) + Number(size)
      return sums
    }
    return { world, owned, bytes }
  }

  it('are removed with the sessions of a user that is erased, and no others', async () => {
    const { world, owned, bytes } = await open()
    await pictured(world, by('ten_a', 'ada'))
    await pictured(world, by('ten_a', 'bob'))
    expect(await bytes()).toEqual({ ten_a: 4 * picture.length })
    const ada = { project: 'prj_a', tenant: 'ten_a', user: 'ada' }
    await expect.poll(() => owned.erase(ada)).toEqual({})
    expect(await bytes()).toEqual({ ten_a: 2 * picture.length })
  })

  it('are removed with a tenant that is erased, and no others', async () => {
    const { world, owned, bytes } = await open()
    await pictured(world, by('ten_a', 'ada'))
    await pictured(world, by('ten_b', 'ada'))
    await expect.poll(() => owned.erase({ project: 'prj_a', tenant: 'ten_a', user: null })).toEqual({})
    expect(await bytes()).toEqual({ ten_b: 2 * picture.length })
  })

  it('are removed with a session that is deleted, and not with its fork', async () => {
    const { world, bytes } = await open()
    const [session = '', fork = ''] = await pictured(world, by('ten_a', 'ada'))
    await world.useCases['sessions.delete'](callOf({ session_id: session }, {}, undefined))
    await expect.poll(bytes).toEqual({ ten_a: picture.length })
    await world.useCases['sessions.delete'](callOf({ session_id: fork }, {}, undefined))
    await expect.poll(bytes).toEqual({})
  })
})
