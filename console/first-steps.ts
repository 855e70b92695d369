import { callApi } from './api.ts'
import { html } from './html.ts'
import { useRead } from './parts/use-read.ts'
import { listHash, newResource, routeHash } from './route.ts'

/** The steps from an empty project to a conversation with an agent of its own, until all are done. */
export const FirstSteps = ({ project }: { project: string }) => {
  const one = { query: { limit: 1 } }
  const { data } = useRead(project, async () => {
    const [bases, agents, sessions] = await Promise.all([
      callApi(project, 'knowledge_bases.list', one),
      callApi(project, 'agents.list', one),
      callApi(project, 'observation.actors', { query: { limit: 1, machine: 'session' } }),
    ])
    const agent = agents.data[0]
    const versions =
      agent === undefined
        ? { data: [] }
        : await callApi(project, 'agent_versions.list', {
            params: { agent_id: agent.id },
            query: { status: 'published' },
          })
    return { agent, steps: [bases, agents, versions, sessions].map((list) => list.data.length > 0) }
  })
  if (data === null || data.steps.every(Boolean)) return null
  const { agent } = data
  const opened = { kind: 'agents', open: agent?.id ?? '' }
  const steps = [
    ['Add knowledge', 'that agents look up in your documents', newResource(project, 'knowledge_bases')],
    ['Create an agent', 'with a model, instructions and tools', newResource(project, 'agents')],
    ['Publish a version', 'which never changes', routeHash({ view: 'resources', project, query: opened })],
    ['Try it', 'in the playground', routeHash({ view: 'playground', project, query: { agent: agent?.id ?? '' } })],
  ] as const
  return html`<section class="panel" aria-label="First steps">
    <h2>First steps</h2>
    <ol class="underlined grid grid-cols-[repeat(auto-fit,minmax(190px,1fr))] gap-10 px-(--inset) py-4">${steps.map(
      ([name, why, href], at) =>
        html`<li key=${name} class="box [&>:not(.chip)]:block">${data.steps[at] ? html`<span class="chip" data-tone="calm">done</span> <strong>${name}</strong>` : html`<a href=${href}>${name}</a> <span class="muted">${why}</span>`}</li>`,
    )}</ol>
    <p class="panel-part muted">Then look at <a href=${listHash({ project })}>its sessions</a>, step by step.</p>
  </section>`
}
