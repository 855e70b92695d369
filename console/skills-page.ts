import type { SkillFinding as Finding } from '#client/api/index.ts'
import { callApi } from './api.ts'
import { toneOf } from './format.ts'
import { html } from './html.ts'
import { livePage } from './live-page.ts'
import { ActButton } from './parts/act-button.ts'
import { When } from './parts/cells.ts'
import { Empty } from './parts/empty.ts'
import { Table } from './parts/table.ts'
import { newResource } from './route.ts'
import { sessionNow } from './session.ts'

type Reviewed = Made<typeof importsOf>[number] | Made<typeof draftsOf>[number]

const max = 50
const severities = ['blocker', 'warning', 'info']

/** Skills to review: staged imports and draft versions, with the findings of the scan. */
export const skillsPage = livePage({
  read: async ({ project }) => [...(await importsOf(project)), ...(await draftsOf(project))],
  show: ({ place: { project }, data, done }) => html`<${Skills} project=${project} reviewed=${data} done=${done} />`,
})

const importsOf = async (project: string) => {
  const { data } = await callApi(project, 'skill_imports.list', { query: { status: 'staged', limit: max } })
  return data.map(({ id, name, source, url, ...rest }) => ({
    ...{ ...rest, id, name: name ?? id, what: `import from ${url ?? source}`, rejects: true },
    decide: (verb: 'publish' | 'reject', body?: object) =>
      callApi(project, `skill_imports.${verb}`, { params: { import_id: id }, body }),
  }))
}

const draftsOf = async (project: string) => {
  const { data: skills } = await callApi(project, 'skills.list', { query: { limit: max } })
  const drafts = skills.map(async ({ id, name }) => {
    const query = { status: 'draft', limit: max }
    const { data } = await callApi(project, 'skill_versions.list', { params: { skill_id: id }, query })
    return data.map(({ version, ...rest }) => ({
      ...{ ...rest, id: `${id}@${version}`, name, what: `version ${version}`, rejects: false },
      decide: (_: string, body?: object) =>
        callApi(project, 'skill_versions.publish', { params: { skill_id: id, version }, body }),
    }))
  })
  return (await Promise.all(drafts)).flat()
}

const Skills = ({ project, reviewed, done }: Props & { reviewed: readonly Reviewed[] }) => html`
  <div class="view-head"><h1>Skills to review</h1></div>
  ${reviewed.length === 0 && html`<${Empty} drawn="skills" title="No skills to review." create=${sessionNow().operates && newResource(project, 'skill_imports')} verb="Import one"><p>Skills are files that teach agents a task. Imported ones, and drafts, are scanned and wait here until an admin publishes them.</p><//>`}
  ${reviewed.map((each) => html`<${Review} key=${each.id} reviewed=${each} done=${done} />`)}
`

const Review = (props: Props & { reviewed: Reviewed }) => {
  const { reviewed, done } = props
  const { name, what, description, files, findings, created_at, rejects, decide } = reviewed
  const sorted = findings.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  const counts = severities.flatMap((severity) => {
    const count = findings.filter((each) => each.severity === severity).length
    return count === 0 ? [] : [`${count} ${severity}${count === 1 ? '' : 's'}`]
  })
  const reject = () => decide('reject').then(done)
  /** Blockers are overridden with one reason, which the audit log keeps. */
  const publish = async () => {
    const codes = [...new Set(findings.filter(({ severity }) => severity === 'blocker').map(({ code }) => code))]
    const reason =
      codes.length === 0
        ? ''
        : prompt(`The scan blocks publication: ${codes.join(', ')}. Reason for publishing anyway:`)
    if (reason === null || (codes.length > 0 && reason.trim() === '')) return
    await decide('publish', codes.length === 0 ? undefined : { override: codes.map((code) => ({ code, reason })) })
    await done()
  }
  return html`
    <section class="panel" aria-label=${`${name}, ${what}`}>
      <h2>${name} <span class="muted">${what}, <${When} at=${created_at} /></span></h2>
      <p class="panel-part">${description || 'No description.'}</p>
      <p class="panel-part muted">${files.map(({ path }) => path).join(', ')} · ${counts.join(', ') || 'nothing found'}</p>
      ${findings.length > 0 && html`<${Table} label=${`Findings of ${name}`} columns=${findingColumns} rows=${sorted} />`}
      <div class="panel-part decide"><${ActButton} label="Publish" act=${publish} />${rejects && html`<${ActButton} label="Reject" act=${reject} />`}</div>
    </section>
  `
}

const findingColumns: Columns<Finding> = {
  Severity: ({ severity }) => html`<span class="chip" data-tone=${toneOf(severity)}>${severity}</span>`,
  Finding: ({ code }) => code,
  Location: ({ path, line }) => `${path}:${line}`,
  Reason: ({ message }) => message,
}
