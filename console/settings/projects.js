import { callApi } from '../api.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, Table } from '../parts/table.js'
import { typed } from '../parts/typed.js'
import { When } from '../parts/when.js'
import { routeHash } from '../route.js'
import { useState } from '../vendor/hooks.js'

/** @typedef {{ id: string, name: string, status: 'active' | 'deleting', allowed_origins: readonly string[], created_at: string }} Project */

/**
 * Projects of the organisation, which are isolated from each other.
 *
 * @param {{ project: string, projects: readonly Project[], operates: boolean, done: () => void }} props
 */
export const Projects = ({ project, projects, operates, done }) => {
  const [name, setName] = useState('')
  const create = async () => {
    await callApi(null, 'projects.create', { body: { name } })
    setName('')
    done()
  }
  const shown = projects.find(({ id }) => id === project)
  return html`
    <section class="panel" aria-label="Projects">
      <h2>Projects</h2>
      <${Table} label="Projects" columns=${['Project', 'Name', 'Status', 'Allowed origins', 'Created']} rows=${projects.map(rowOf)} />
      ${operates && shown && html`<${Change} key=${shown.id} shown=${shown} done=${done} />`}
      ${
        operates &&
        html`<form class="filters" aria-label="New project" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <label class="wide">New project name<input value=${name} maxlength="256" onInput=${typed(setName)} /></label>
        <${ActButton} main label="Create project" disabled=${name.trim() === ''} act=${create} /></form>`
      }
    </section>
  `
}

/** @param {Project} project */
const rowOf = ({ id, name, status, allowed_origins, created_at }) => ({
  key: id,
  cells: [
    html`<a href=${routeHash({ view: 'home', project: id })}>${id}</a>`,
    name,
    html`<span class="chip" data-tone=${status === 'deleting' ? 'bad' : 'calm'}>${status}</span>`,
    allowed_origins.join(', ') || nothing,
    html`<${When} at=${created_at} />`,
  ],
})

/** @param {{ shown: Project, done: () => void }} props */
const Change = ({ shown, done }) => {
  const [name, setName] = useState(shown.name)
  const [origins, setOrigins] = useState(shown.allowed_origins.join(' '))
  const save = async () => {
    const allowed_origins = origins.split(/[\s,]+/).filter(Boolean)
    await callApi(shown.id, 'projects.update', { body: { name, allowed_origins } })
    done()
  }
  return html`<form class="filters" aria-label="This project" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label>Project name<input value=${name} maxlength="256" onInput=${typed(setName)} /></label>
    <label class="wide">Allowed origins (for client tokens in browsers)<input value=${origins} spellcheck=${false} onInput=${typed(setOrigins)} /></label>
    <${ActButton} label="Save" act=${save} />
  </form>`
}
