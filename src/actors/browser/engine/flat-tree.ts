/*
 * Scripts that run in a page, in an isolated world. They read the tree as it is shown: open shadow roots in place of
 * their hosts' children, assigned nodes in place of slots, and documents of the same origin in place of their frames.
 * They use no recursion, since a page can nest shadow roots thousands of levels deep.
 */

/** Maximum number of elements that are read. */
const maxElements = 100_000

/** Declares `walk(root, {enter, leave, text})`; an element is entered only if `enter` returns true. */
export const flatTree = `
const shownIn = (node) => {
  if (node.shadowRoot) return node.shadowRoot.childNodes
  if (node.localName === 'slot') {
    const assigned = node.assignedNodes()
    return assigned.length > 0 ? assigned : node.childNodes
  }
  if (node.localName === 'iframe' || node.localName === 'frame') {
    const inner = node.contentDocument
    return inner && inner.body ? [inner.body] : []
  }
  return node.childNodes
}
const walk = (root, { enter, leave, text }) => {
  const stack = [[root, false]]
  let count = 0
  while (stack.length > 0) {
    const [node, isOver] = stack.pop()
    if (isOver) leave(node)
    else if (node.nodeType === 3) text(node.data)
    else if (node.nodeType === 1 && count < ${maxElements} && enter(node)) {
      count += 1
      stack.push([node, true])
      const nodes = shownIn(node)
      for (let at = nodes.length - 1; at >= 0; at -= 1) stack.push([nodes[at], false])
    }
  }
}
const styleOf = (node) => (node.ownerDocument.defaultView ?? window).getComputedStyle(node)
const isShown = (style) => style.display !== 'none' && style.display !== ''
/** Whether innerText would leave out something that the page shows. */
const isComposed = () => {
  for (const node of document.querySelectorAll('*')) {
    if (node.shadowRoot) return true
    if ((node.localName === 'iframe' || node.localName === 'frame') && node.contentDocument) return true
  }
  return false
}`

/** Declares `shownText(max)`, which returns the text that the page shows, of at most so many characters. */
export const flatText = `
const leftOut = new Set('script style noscript template head title svg canvas video audio object select textarea'.split(' '))
const shownText = (max) => {
  const out = []
  const open = []
  let [length, breaks, isSpaced] = [0, 0, false]
  const emit = (text) => {
    if (out.length > 0) out.push(breaks > 0 ? '\\n'.repeat(Math.min(2, breaks)) : isSpaced ? ' ' : '')
    out.push(text)
    length += text.length
    breaks = 0
    isSpaced = false
  }
  walk(document.body ?? document.documentElement, {
    enter: (node) => {
      if (length > max || leftOut.has(node.localName)) return false
      const style = styleOf(node)
      if (!isShown(style)) return false
      if (node.localName === 'br') breaks += 1
      const isBlock = !/^(inline|contents|ruby|table-cell)/.test(style.display)
      const gap = node.localName === 'p' ? 2 : isBlock ? 1 : 0
      breaks = Math.max(breaks, gap)
      if (style.display === 'table-cell') isSpaced = true
      open.push({ gap, isHidden: style.visibility !== 'visible', isPre: style.whiteSpace.startsWith('pre') })
      return true
    },
    leave: () => {
      breaks = Math.max(breaks, open.pop().gap)
    },
    text: (data) => {
      const { isHidden, isPre } = open.at(-1)
      if (isHidden || length > max) return
      if (isPre && data !== '') return emit(data.slice(0, max))
      const text = data.slice(0, max).replace(/[ \\t\\n\\r\\f]+/g, ' ')
      isSpaced ||= text.startsWith(' ')
      if (text.trim() === '') return
      emit(text.trim())
      isSpaced = text.endsWith(' ')
    },
  })
  return out.join('').slice(0, max)
}`

/** Declares `shownHtml(max)`, which returns the page as HTML of at most so many characters, and whether it is cut. */
export const flatHtml = `
const omitted = new Set('script style noscript template svg canvas video audio object'.split(' '))
const voids = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))
const kept = new Set(('href src class id hidden aria-hidden role datetime itemprop itemscope itemtype rel lang dir alt colspan rowspan ' +
  'start type name property content http-equiv charset hreflang').split(' '))
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const shownHtml = (max) => {
  const out = []
  let [length, isCut] = [0, false]
  const put = (text) => {
    if (length + text.length > max) isCut = true
    if (isCut) return
    length += text.length
    out.push(text)
  }
  const tagOf = (node) => {
    let tag = '<' + node.localName
    for (const { name, value } of node.attributes) {
      if (!kept.has(name)) continue
      const own = name === 'href' && node.localName === 'a' ? node.href : value
      tag += ' ' + name + '="' + escaped(String(own).slice(0, 4096)).replaceAll('"', '&quot;') + '"'
    }
    return tag + '>'
  }
  const isData = (node) => node.localName === 'script' && /^\\s*application\\/ld\\+json\\s*$/i.test(node.type)
  // frames and slots are shown as what they contain
  const isBare = ({ localName }) => localName === 'slot' || localName === 'frame' || localName === 'iframe'
  const heads = new Set('html head title meta link base'.split(' '))
  walk(window === window.top ? document.documentElement : document.body, {
    enter: (node) => {
      if (isCut) return false
      if (isData(node)) put(tagOf(node) + node.text.replaceAll('</script', '<\\\\/script').slice(0, 300000) + '</script>')
      if (omitted.has(node.localName)) return false
      if (!heads.has(node.localName) && node.parentNode !== document.head && !isShown(styleOf(node))) return false
      if (node.localName === 'iframe' || node.localName === 'frame') put('<div>')
      else if (!isBare(node)) put(tagOf(node))
      return !voids.has(node.localName)
    },
    leave: (node) => {
      if (node.localName === 'iframe' || node.localName === 'frame') put('</div>')
      else if (!isBare(node)) put('</' + node.localName + '>')
    },
    text: (data) => put(escaped(data)),
  })
  return { html: out.join(''), isCut }
}`
