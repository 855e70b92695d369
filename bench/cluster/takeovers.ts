import type { ClusterNode, LocalCluster } from '#scripts/cluster/local-cluster.ts'

/** Number of sessions created on each node before it is killed. */
const wanted = 8
const patienceMs = 30_000
const retryMs = 10
const settleMs = 500

/**
 * Kills nodes that own sessions, `kills` times, and retries a turn of each of their sessions at another node until it
 * succeeds.
 *
 * @returns per kill, the ms until the last of the sessions has had a turn at the other node.
 */
export async function measureTakeovers(cluster: LocalCluster, kills: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let kill = 0; kill < kills; kill++) {
    await untilEven(cluster)
    const victim = nodeAt(cluster, kill)
    const survivor = nodeAt(cluster, kill + 1)
    const sessions = await Promise.all(Array.from({ length: wanted }, () => newSession(cluster, victim)))
    const killedAt = performance.now()
    void victim.kill9()
    const took = await Promise.all(sessions.map((session) => untilBegun(cluster, survivor, session, killedAt)))
    times.push(Math.max(...took))
    await victim.exited
    await victim.restart()
  }
  return times
}

const nodeAt = ({ nodes }: LocalCluster, place: number): ClusterNode => {
  const node = nodes[place % nodes.length]
  if (node === undefined) throw new Error('the cluster has no node')
  return node
}

/** Creates a session at this node, in a shard that the node owns, and runs a turn there. */
async function newSession(cluster: LocalCluster, node: ClusterNode): Promise<string> {
  const created: { readonly id: string } = JSON.parse(await post(cluster, node, '/v1/sessions', {}))
  await post(cluster, node, `/v1/sessions/${created.id}/turns`, turn)
  return created.id
}

const turn = { input: 'hello', model: 'gpt-4o-mini' }

async function untilBegun(cluster: LocalCluster, node: ClusterNode, session: string, killedAt: number) {
  const deadline = killedAt + patienceMs
  for (;;) {
    try {
      await post(cluster, node, `/v1/sessions/${session}/turns`, turn)
      return performance.now() - killedAt
    } catch (error) {
      if (performance.now() > deadline) throw error
      await wait(retryMs)
    }
  }
}

/**
 * Waits until every node owns shards again: they move back to a restarted node, and the next node to be killed must own
 * some.
 */
async function untilEven(cluster: LocalCluster): Promise<void> {
  const deadline = performance.now() + patienceMs
  const owner = JSON.stringify({ email: cluster.credentials.ownerEmail, password: cluster.credentials.ownerPassword })
  const { url } = nodeAt(cluster, 0)
  const headers = { 'content-type': 'application/json', origin: url }
  const signedIn = await fetch(`${url}/api/auth/login`, { method: 'POST', headers, body: owner })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ')
  while (performance.now() < deadline) {
    const answer = await fetch(`${url}/api/nodes`, { headers: { cookie } })
    const { data }: { readonly data: readonly { readonly shards: number }[] } = JSON.parse(await answer.text())
    const held = data.map(({ shards }) => shards)
    const all = held.reduce((sum, shards) => sum + shards, 0)
    if (held.length === cluster.nodes.length && all % 256 === 0 && Math.max(...held) - Math.min(...held) < 2) return
    await wait(settleMs)
  }
  throw new Error('the shards did not spread over the nodes')
}

async function post(cluster: LocalCluster, node: ClusterNode, path: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${cluster.credentials.secretKey}`, 'content-type': 'application/json' }
  const answer = await fetch(node.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer.text()
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
