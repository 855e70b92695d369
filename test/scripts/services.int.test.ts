import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createConnection } from 'node:net'
import { MongoClient } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { findChromium } from '#scripts/services/chromium.ts'
import { findHeadlessShell } from '#scripts/services/headless-shell.ts'
import { startMongod } from '#scripts/services/mongod.ts'
import { startRedis } from '#scripts/services/redis.ts'
import { startService } from '#scripts/services/service.ts'

const connect = (url: string) => MongoClient.connect(url, { writeConcern: { w: 'majority', journal: true } })

describe('test services', () => {
  it('include a MongoDB that answers', async () => {
    const client = await MongoClient.connect(process.env.MONGODB_URL ?? '')
    expect(await client.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 })
    await client.close()
  })

  it('include a mongod that keeps an acknowledged write after kill -9 and a restart', async () => {
    const mongod = await startMongod()
    const before = await connect(mongod.url)
    await before.db('t').collection<{ _id: string }>('c').insertOne({ _id: 'kept' })
    // closed now: without a server it would search for one to end its sessions
    await before.close()
    await mongod.kill9()
    expect(existsSync(`/proc/${mongod.pid}`)).toBe(false)
    const again = await mongod.restart()
    const after = await connect(again.url)
    expect(await after.db('t').collection('c').countDocuments()).toBe(1)
    await after.close()
    await again.stop()
  })

  it('include a replica set with majority writes and change streams', async () => {
    const mongod = await startMongod({ replicaSet: true })
    const client = await connect(mongod.url)
    const changes = client.db('t').collection('c').watch()
    const first = changes.next()
    await client.db('t').collection('c').insertOne({ a: 1 })
    expect(await first).toMatchObject({ operationType: 'insert' })
    await changes.close()
    await client.close()
    await mongod.stop()
  })

  it('include a Redis on its own port that can be stopped', async () => {
    const redis = await startRedis()
    expect(await request(redis.port, 'PING')).toBe('+PONG')
    await redis.stop()
    await expect(request(redis.port, 'PING')).rejects.toThrow('ECONNREFUSED')
  })

  it('report the output of a service that did not start', async () => {
    const broken = startService({
      name: 'broken',
      command: process.execPath,
      env: () => process.env,
      args: () => ['--eval', 'console.error("port is cursed"); process.exit(3)'],
      url: String,
    })
    await expect(broken).rejects.toThrow('broken did not start\nport is cursed')
  })

  it('start on another port when another process took the one that was free', async () => {
    const tried: number[] = []
    const taken = ['--eval', 'console.error("listen EADDRINUSE"); process.exit(1)']
    const service = await startService({
      name: 'late',
      command: process.execPath,
      env: () => process.env,
      args: (port) =>
        tried.push(port) === 1 ? taken : ['--eval', `require('node:net').createServer().listen(${port}, '127.0.0.1')`],
      url: String,
    })
    await service.stop()
    expect(tried).toHaveLength(2)
    expect(service.port).toBe(tried[1])
  })

  it('refuse a CHROMIUM_PATH that is not a file', () => {
    const kept = process.env.CHROMIUM_PATH
    process.env.CHROMIUM_PATH = '/nowhere/chromium'
    expect(() => findChromium()).toThrow('CHROMIUM_PATH names no file')
    if (kept === undefined) delete process.env.CHROMIUM_PATH
    else process.env.CHROMIUM_PATH = kept
  })

  it('include a headless shell that starts, or none', () => {
    const path = findHeadlessShell()
    const said = path === null ? 'none' : spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout
    expect(said).toMatch(/Chrom|none/)
    expect(findHeadlessShell()).toBe(path)
  })
})

function request(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write(`${command}\r\n`))
    socket.once('error', reject)
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString().trim())
    })
  })
}
