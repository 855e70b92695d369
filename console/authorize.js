import { ApiError, callApi, wordsOf } from './api.js'
import { byId, h } from './dom.js'
import { hasSignedIn, keepSignedIn, signInView } from './sign-in-view.js'

/* The consent page: a signed-in member reads which app requests what, and decides. */

/** Parameters of the request that are sent on; others mean nothing to the server. */
const names = /** @type {const} */ ([
  ...['response_type', 'client_id', 'redirect_uri', 'code_challenge', 'code_challenge_method', 'scope', 'state'],
  'resource',
])

const given = new URLSearchParams(location.search)
const body = {
  ...Object.fromEntries(names.flatMap((name) => (given.has(name) ? [[name, given.get(name) ?? '']] : []))),
  origin: location.origin,
}

const view = byId('view')
const notice = byId('notice')

/** @typedef {{ name: string, host: string | null, redirect: string }} Client */

/** @param {unknown} error */
const report = (error) => {
  if (error instanceof ApiError && error.status === 401) {
    signIn()
    return
  }
  notice.hidden = false
  notice.textContent = wordsOf(error)
}

const signIn = () => {
  keepSignedIn(false)
  const form = signInView(() => {
    keepSignedIn(true)
    void show().catch(report)
  })
  view.replaceChildren(form.element)
  form.focus()
}

const show = async () => {
  const [{ data: projects }, { member }, request] = await Promise.all([
    callApi(null, 'projects.list', { query: { limit: 100 } }),
    callApi(null, 'auth.me'),
    callApi(null, 'oauth_consents.preview', { body }),
  ])
  notice.hidden = true
  view.replaceChildren(
    request.error === null ? consent(request, { projects, member }) : refusal(request.client, request),
  )
  view.focus()
}

/**
 * @param {Client} client
 * @param {{ error: { message: string }, redirect_to: string }} request
 */
const refusal = (client, { error, redirect_to }) =>
  h(
    'section',
    { class: 'sign-in consent' },
    h('h1', {}, 'The request cannot be granted'),
    h('p', {}, error.message),
    h('p', { class: 'muted' }, 'The app calls itself ', h('strong', {}, client.name), '.'),
    h('button', { type: 'button', click: () => location.assign(redirect_to) }, `Return to ${client.redirect}`),
  )

/**
 * @param {{ client: Client, scopes: readonly string[] }} request
 * @param {{ projects: readonly { id: string, name: string }[], member: { email: string, role: string } }} by
 */
const consent = ({ client, scopes }, { projects, member }) => {
  const project = h('select', { name: 'project' }, ...projects.map(({ id, name }) => h('option', { value: id }, name)))
  const buttons = [
    h('button', { type: 'button', class: 'quiet', click: () => void decide('deny') }, 'Deny'),
    h('button', { type: 'button', click: () => void decide('approve') }, 'Allow'),
  ]
  /** @param {'approve' | 'deny'} decision */
  const decide = async (decision) => {
    for (const button of buttons) button.disabled = true
    try {
      const { redirect_to } = await callApi(project.value, 'oauth_consents.create', { body: { ...body, decision } })
      location.assign(redirect_to)
    } catch (error) {
      report(error)
      for (const button of buttons) button.disabled = false
    }
  }
  const isOperator = member.role === 'admin' || member.role === 'owner'
  return h(
    'section',
    { class: 'sign-in consent' },
    h('h1', {}, 'Allow an app to use your project?'),
    h('p', {}, 'The app calls itself ', h('strong', {}, client.name), '. ', vouched(client)),
    h(
      'p',
      {},
      'You are sent back to ',
      h('strong', {}, client.redirect),
      '. Deny if you have not just come from there.',
    ),
    h('label', {}, 'Project', project),
    h('h2', {}, 'It may'),
    h('ul', {}, ...scopes.map((scope) => h('li', {}, meaningOf(scope)))),
    h(
      'p',
      { class: 'muted' },
      `It acts as ${member.email}, and can do no more than you. `,
      isOperator ? '' : `Your role, ${member.role}, limits what it may change. `,
      'You can revoke the access in the settings at any time.',
    ),
    h('div', { class: 'choices' }, ...buttons),
  )
}

/** @param {Client} client */
const vouched = ({ host }) =>
  host === null ? 'It registered itself: nothing that it says is verified.' : `It is published by ${host}.`

/** @param {string} scope */
const meaningOf = (scope) => {
  if (scope === 'read') return 'read everything in the project'
  if (scope === 'write') return 'change everything in the project, and use models at its cost'
  const [group = '', part] = scope.split(':')
  const words = group.replaceAll('_', ' ')
  return part === 'read' ? `read ${words}` : `read and change ${words}`
}

if (!hasSignedIn()) signIn()
else void show().catch(report)
