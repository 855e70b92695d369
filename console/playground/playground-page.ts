import { newestEvents } from '../actor-source.ts'
import { callApi } from '../api.ts'
import { html } from '../html.ts'
import { ActorLink } from '../linked-ids.ts'
import { livePage } from '../live-page.ts'
import { Choices } from '../parts/choices.ts'
import { QueryForm } from '../parts/query-form.ts'
import { hashAt, routeHash } from '../route.ts'
import { sessionNow } from '../session.ts'
import { Bench } from './bench.ts'
import { Talk } from './talk.ts'

const max = 100
/** Maximum number of events shown, the newest ones of a long conversation. */
const maxEvents = 2000

/** A session for trying models and agents, over SSE or a WebSocket. */
export const playgroundPage = livePage({
  everyMs: 0,
  read: (place) => readPlayground(place),
  show: ({ place, data }) => html`<${Playground} place=${place} shown=${data} />`,
})

const readPlayground = async ({ project, query: { session } }: Place) => {
  const [models, agents, log] = await Promise.all([
    callApi(project, 'models.list', { query: { available: true } }),
    callApi(project, 'agents.list', { query: { limit: max } }),
    session ? newestEvents(project, session, maxEvents) : [],
  ])
  const ids = models.data.filter(({ type }) => type === 'chat' || type === 'reasoning').map(({ id }) => id)
  // the simulated model is listed first, since it costs nothing
  return {
    models: ids.toSorted((a, b) => Number(b.startsWith('simulated')) - Number(a.startsWith('simulated'))),
    agents: agents.data,
    log,
    // its name is read too
    session,
  }
}

const modes = { '': 'Session', requests: 'Compare requests' }

const Playground = ({ place, shown: { models, agents, log } }: Props & { shown: Made<typeof readPlayground> }) => {
  const { project, query } = place
  const { session = '', mode = '' } = query
  const fields = [
    { name: 'model', label: 'Model', choices: [['', "the agent's, or the default"], ...models.map((id) => [id, id])] },
    { name: 'agent', label: 'Agent', choices: [['', 'none'], ...agents.map(({ id, name }) => [id, name])] },
    { name: 'by', label: 'Over', choices: Object.entries({ '': 'SSE', ws: 'WebSocket' }) },
  ]
  return html`
    <div class="view-head"><h1>Playground</h1>
      <${Choices} label="Mode" values=${modes} now=${mode} to=${(value: string) => routeHash({ view: 'playground', project, query: { mode: value } })} />
      ${session && html`<${ActorLink} project=${project} id=${session} /> <a href=${hashAt(place, { session: '' })}>New session</a>`}</div>
    ${
      sessionNow().operates
        ? mode === 'requests'
          ? html`<${Bench} place=${place} models=${models} agents=${agents} />`
          : html`<${QueryForm} place=${place} label="With what" button="Apply" fields=${fields} />
          <${Talk} key=${`${session} ${query.by ?? ''}`} place=${place} models=${models} log=${log} />`
        : html`<p class="empty">Turns cost money: an admin of the project can send them. <a href=${routeHash({ view: 'home', project })}>Home</a></p>`
    }
  `
}
