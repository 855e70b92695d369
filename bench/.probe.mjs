import { MongoClient } from 'mongodb'

const url = 'mongodb://127.0.0.1:27117/'
const client = await new MongoClient(url, { maxPoolSize: 20 }).connect()
const dbn = 'probe_' + process.pid
const db = client.db(dbn)
const W = { w: 'majority', j: true }
const native = (a, s, k) => ({
  _id: a + ':' + String(s).padStart(10, '0'),
  actor: a,
  seq: s,
  shard: k % 256,
  epoch: 1,
  at: 1750000000000 + k,
  project: 'prj_01jxxxxxxx',
  tenant: null,
  machine: 'session@1',
  cause: 'req:' + a + k,
  nonce: 'n' + k,
  event: { type: 'turn', text: 'hello there my friend' },
  events: [
    {
      sequence: s,
      event_type: 'output_text.delta',
      turn_number: 1,
      payload: { delta: 'some words that were said by the model, twenty chunks joined' },
    },
    {
      sequence: s + 1,
      event_type: 'turn.completed',
      payload: {
        output: 'some words that were said by the model, twenty chunks joined',
        usage: { input_tokens: 10, output_tokens: 20 },
      },
    },
  ],
  last_sequence: s + 1,
  effects: [{ id: a + ':' + s + ':0', name: 'callModel', params: { model: 'm', turn: 1 }, policy: 'stream' }],
  messages: [],
  snapshot: {
    value: 'running',
    status: 'active',
    context: {
      sessionId: a,
      turn: 1,
      model: 'm',
      pending: [],
      tools: [],
      totals: { input: 1, output: 2, cost: '0.001' },
    },
    children: {},
    historyValue: {},
  },
  reminders: { expire: { due: 1750000000000 + k, event: { type: 'expire' }, n: 1 } },
  in_flight: { [a + ':' + s + ':0']: { name: 'callModel', params: { model: 'm' }, policy: 'stream' } },
  open: true,
  due: 1750000000000 + k,
})
const text = (a, s, k) => {
  const d = native(a, s, k)
  return {
    _id: d._id,
    actor: a,
    seq: s,
    shard: d.shard,
    epoch: 1,
    at: d.at,
    project: d.project,
    tenant: null,
    machine: d.machine,
    cause: d.cause,
    nonce: d.nonce,
    last_sequence: d.last_sequence,
    events: JSON.stringify(d.events),
    snapshot: JSON.stringify(d.snapshot),
    body: JSON.stringify({
      event: d.event,
      effects: d.effects,
      messages: d.messages,
      reminders: d.reminders,
      in_flight: d.in_flight,
    }),
    open: true,
    due: d.due,
  }
}
const idx = [
  { key: { actor: 1, cause: 1 }, unique: true },
  { key: { shard: 1, at: 1 }, partialFilterExpression: { open: true } },
  { key: { shard: 1, due: 1 }, partialFilterExpression: { due: { $exists: true } } },
]
const last = [{ key: { actor: 1, last_sequence: 1 }, partialFilterExpression: { events: { $exists: true } } }]
const multi = [{ key: { actor: 1, 'events.sequence': 1 } }]
let n = 0
async function run(name, { make, indexes, how, writers = 64, flights = 2, total = 12000 }) {
  const cn = 'c' + ++n
  const col = db.collection(cn, { writeConcern: W })
  await db.createCollection(cn)
  await col.createIndexes(indexes)
  let q = [],
    fl = 0
  const send =
    how === 'one'
      ? null
      : how === 'many'
        ? (b) => col.insertMany(b, { ordered: false })
        : (b) => db.command({ insert: cn, documents: b, ordered: false, writeConcern: W })
  const flush = async () => {
    if (fl >= flights || !q.length) return
    fl++
    const b = q
    q = []
    try {
      await send(b.map((x) => x[0]))
      for (const x of b) x[1]()
    } finally {
      fl--
      if (q.length) setImmediate(flush)
    }
  }
  const commit =
    how === 'one'
      ? (d) => col.insertOne(d)
      : (d) =>
          new Promise((r) => {
            q.push([d, r])
            if (q.length === 1) setImmediate(flush)
          })
  let k = 0
  const c0 = process.cpuUsage(),
    t0 = performance.now()
  await Promise.all(
    Array.from({ length: writers }, async (_, w) => {
      let s = 0
      while (k < total) {
        k++
        await commit(make('ses_01jxxxxxxxxxxxxxxxxxxxxxx' + w, ++s, k))
      }
    }),
  )
  const dt = performance.now() - t0,
    c = process.cpuUsage(c0)
  console.log(
    name.padEnd(40),
    Math.round((total / dt) * 1000) + '/s',
    'cpu/commit us',
    Math.round((c.user + c.system) / total),
  )
  await col.drop()
}
const t = Number(process.argv[2] ?? 12000)
for (let round = 0; round < 2; round++) {
  await run('insertOne native x64', { make: native, indexes: idx, how: 'one', total: t / 3 })
  await run('insertMany native f2', { make: native, indexes: idx, how: 'many', total: t })
  await run('insertMany text f2', { make: text, indexes: idx, how: 'many', total: t })
  await run('command native f2', { make: native, indexes: idx, how: 'cmd', total: t })
  await run('command text f2', { make: text, indexes: idx, how: 'cmd', total: t })
  await run('command text f1', { make: text, indexes: idx, how: 'cmd', flights: 1, total: t })
  await run('command text f4', { make: text, indexes: idx, how: 'cmd', flights: 4, total: t })
  await run('command text f2 +last', { make: text, indexes: [...idx, ...last], how: 'cmd', total: t })
  await run('command native f2 +multikey', { make: native, indexes: [...idx, ...multi], how: 'cmd', total: t })
  await run('command text f2 256 writers', { make: text, indexes: idx, how: 'cmd', writers: 256, total: t })
}
await db.dropDatabase()
await client.close()
