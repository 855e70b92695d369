/** What the picture shows around the console at one time. */
export interface Scene {
  /** Index of the current phase in `phases`. */
  readonly phase: number
  /** Lines about the server, and of the client of the stream, newest last. */
  readonly server: readonly string[]
  readonly client: readonly string[]
  /** Whether no process of the server runs. */
  readonly dead: boolean
  /** Where the page was clicked a moment ago, in px of the console. */
  readonly click: { readonly x: number; readonly y: number } | null
}

/** Width of the picture in px. */
export const width = 880
/** The part of the console's page that it contains: without the navigation. */
export const consoleSize = { left: 188, top: 49, width: 1000, height: 600 } as const

/** What happens, one after the other. */
const phases = ['Streaming', 'kill -9', 'Restarted, resumed', 'Approval', 'Done'] as const

const shownLines = 5
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const line = (text: string): string => {
  const tone = /kill -9|Killed|lost/.test(text) ? 'bad' : /ready|resumed|completed/.test(text) ? 'calm' : ''
  return `<div class="${text.startsWith('$') ? 'input' : ''}" data-tone="${tone}">${escaped(text)}</div>`
}

const box = (title: string, lines: readonly string[]): string =>
  `<section><h2>${title}</h2>${lines.slice(-shownLines).map(line).join('')}</section>`

/** The page around the console's picture; `setScene` of it shows another scene. */
export const stageHtml = `<!doctype html><style>
*{box-sizing:border-box;margin:0}
body{width:${width}px;background:#0f1115;color:#e8eaee;font:13px/1.5 system-ui,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;overflow:hidden}
ol{display:flex;gap:6px;height:48px;padding:9px 12px;list-style:none;border-bottom:1px solid #2a2f38}
li{flex:1 1 auto;padding:5px 0;white-space:nowrap;border-radius:6px;text-align:center;font-weight:600;color:#6b7382;background:#171a20}
li.past{color:#9aa3b2}
li.now{color:#0f1115;background:#9aa8ff}
li.now.bad{background:#ff9c93}li.now.wait{background:#f0bd5e}li.now.calm{background:#8fd3a9}
#console{position:relative;display:block;width:${width}px;height:${(consoleSize.height * width) / consoleSize.width}px}
#console img{display:block;width:100%;height:100%}
#click{position:absolute;width:34px;height:34px;margin:-17px;border:3px solid #9aa8ff;border-radius:50%}
#lines{display:grid;grid-template-columns:5fr 6fr;border-top:1px solid #2a2f38;font:12px/1.55 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
section{height:134px;padding:8px 14px;overflow:hidden}section+section{border-left:1px solid #2a2f38}
h2{font:600 11px/1.6 system-ui,sans-serif;color:#9aa3b2}
section div{color:#9aa3b2;overflow:hidden;text-overflow:ellipsis}.input{color:#e8eaee}
[data-tone=bad]{color:#ff9c93!important}[data-tone=calm]{color:#8fd3a9!important}
</style><ol></ol><div id="console"><img alt=""><i id="click" hidden></i></div><div id="lines"></div>`

/** Code for the page that shows a scene, with a picture of the console. */
export const sceneScript = (scene: Scene, png: Buffer): string => {
  const tones = ['', 'bad', '', 'wait', 'calm']
  const steps = phases.map((name, index) => {
    const state = index === scene.phase ? `now ${tones[index]}` : index < scene.phase ? 'past' : ''
    return `<li class="${state}">${index + 1} · ${name}</li>`
  })
  const lines = box('The server', scene.server) + box('A client of the stream', scene.client)
  const scale = width / consoleSize.width
  const [x, y] = [(scene.click?.x ?? 0) * scale, (scene.click?.y ?? 0) * scale]
  return `(async () => {
    document.querySelector('ol').innerHTML = ${JSON.stringify(steps.join(''))}
    document.querySelector('#lines').innerHTML = ${JSON.stringify(lines)}
    const click = document.querySelector('#click')
    click.hidden = ${scene.click === null}
    click.style.cssText = 'left:${x}px;top:${y}px'
    const image = document.querySelector('img')
    image.style.opacity = ${scene.dead ? 0.4 : 1}
    image.src = 'data:image/png;base64,${png.toString('base64')}'
    await image.decode()
  })()`
}
