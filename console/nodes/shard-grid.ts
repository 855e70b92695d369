import type { Node as InstallationNode, Shard } from '../answers.d.ts'
import { age, duration } from '../format.ts'
import { html } from '../html.ts'
import { Table } from '../parts/table.ts'
import type { Latency } from './commit-latency.ts'

export type Takeover = Readonly<{ shard: number; from: string | null; to: string | null; at: string }>

/** Colours of the nodes. */
const colours = ['work', 'calm', 'wait', 'accent', 'soft', 'edge']
/** @param at index of a node */
const styleOf = (at: number) => ({ '--owner': `var(--${colours[at % colours.length]})` })

/** Maximum number of takeovers that are remembered while the page is open. */
const maxTakeovers = 20

/** Shards whose owner changed between two reads, newest first. */
export const takeoversIn = (
  before: readonly Shard[],
  after: readonly Shard[],
  { known, at }: { known: readonly Takeover[]; at: string },
): readonly Takeover[] => {
  const came = after.flatMap((shard, index) => {
    const old = before[index]
    if (old === undefined || (old.epoch === shard.epoch && old.node === shard.node)) return []
    return [{ shard: shard.shard, from: old.node, to: shard.node, at }]
  })
  return [...came, ...known].slice(0, maxTakeovers)
}

/** The owners of the shards, and recent takeovers. */
export const ShardGrid = (props: {
  nodes: readonly InstallationNode[]
  shards: readonly Shard[]
  takeovers: readonly Takeover[]
  latency: Latency
}) => {
  const { nodes, shards, takeovers, latency } = props
  const places = new Map(nodes.map(({ id }, at) => [id, at]))
  const nameOf = (id: string | null) => nodes.find((node) => node.id === id)?.name ?? id ?? 'none'
  const free = shards.filter(({ node }) => node === null).length
  const draining = nodes.filter((node) => node.draining)
  const columns: Columns<Takeover> = {
    Shard: ({ shard }) => String(shard),
    From: ({ from }) => nameOf(from),
    To: ({ to }) => nameOf(to),
    Time: ({ at }) => age(at),
  }
  return html`
    <h2>Shards <span class="muted">${free === 0 ? 'every shard is owned by a node' : html`<span class="chip" data-tone="bad">${free} without a node</span>`}${draining.map(({ name }) => html` <span class="chip" data-tone="wait">${name} is handing over</span>`)}</span></h2>
    <ul class="shard-legend row gap-x-18 gap-y-4 px-(--inset) pb-10">${nodes.map(({ id, name }, at) => html`<li key=${id}><span class="shard inline-block w-[1em] align-[-0.15em]" style=${styleOf(at)}></span> ${name}, ${shards.filter(({ node }) => node === id).length} shards</li>`)}</ul>
    <ol class="grid grid-cols-64 max-phone:grid-cols-32 gap-3 px-(--inset) pb-12" aria-label="Shards by node">${shards.map(
      ({ shard, node, epoch, expires_in_ms }) => {
        const at = node === null ? -1 : (places.get(node) ?? -1)
        const lease = expires_in_ms === null ? '' : `, lease expires in ${duration(expires_in_ms)}`
        return html`<li key=${shard} class="shard" data-owner=${at < 0 ? 'none' : undefined} style=${at < 0 ? undefined : styleOf(at)} title=${`Shard ${shard}: ${nameOf(node)}, epoch ${epoch}${lease}`}>${at < 0 && '!'}</li>`
      },
    )}</ol>
    ${takeovers.length > 0 && html`<${Table} label="Takeovers" columns=${columns} rows=${takeovers} />`}
    <p class="panel-part">${latency === null ? html`<span class="muted">No commit of this node was measured yet.</span>` : html`Commits of this node are durable within <strong>${ms(latency.p50)}</strong> (median), <strong>${ms(latency.p95)}</strong> (95 %), <strong>${ms(latency.p99)}</strong> (99 %) of ${latency.commits} ${latency.commits === 1 ? 'commit' : 'commits'}.`}</p>
  `
}

const ms = (value: number | null) => (value === null ? 'more than 10 s' : duration(value))
