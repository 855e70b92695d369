import { describe, expect, it } from 'vitest'
import { htmlText } from '#src/parsing/documents/html/html-text.ts'

const textOf = (html: string): string => htmlText(html).text

describe('text of an HTML document that a reader does not see', () => {
  it.each([
    ['the attribute hidden', '<p hidden>no</p>'],
    ['display none', '<p style="color:red; DISPLAY : none">no</p>'],
    [
      'display none, which an element in it cannot undo',
      '<div style="display:none"><p style="display:block">no</p></div>',
    ],
    ['visibility hidden', '<p style="visibility:hidden">no</p>'],
    ['visibility collapse', '<p style="visibility: collapse">no</p>'],
    ['no opacity', '<p style="opacity:0.0">no</p>'],
    ['no size', '<p style="font-size:0px">no</p>'],
    ['content visibility', '<p style="content-visibility:hidden">no</p>'],
    ['a template', '<template><p>no</p></template>'],
    ['noscript', '<noscript><p>no</p></noscript>'],
    ['a class', '<style>.gone{display:none}</style><p class="x gone">no</p>'],
    ['an id', '<style>#gone { color: red; display: none !important }</style><p id="gone" style="display:block">no</p>'],
    ['a list of selectors', '<style>h6, p.gone.too , b {display:none}</style><p class="too gone">no</p>'],
    ['a style sheet that comes later', '<p class="gone">no</p><style>.gone{visibility:hidden}</style>'],
    ['rules for screens', '<style>@media screen{.gone{display:none}}</style><p class="gone">no</p>'],
    ['a rule that is not closed', '<style>.gone{display:none</style><p class="gone">no</p>'],
    ['a rule after a comment', '<style>/* } */ .gone /* { */ {display:none}</style><p class="gone">no</p>'],
  ])('is left out (%s)', (_, html) => {
    expect(textOf(`<p>before</p>${html}<p>after</p>`)).toBe('before\n\nafter')
  })

  it.each([
    ['hidden until it is searched', '<p hidden="until-found">yes</p>'],
    ['a rule for print', '<style>@media print{p{display:none}}</style><p>yes</p>'],
    ['a style sheet for print', '<style media="print">p{display:none}</style><p>yes</p>'],
    ['a rule of other elements', '<style>.gone{display:none}</style><p class="gone-not">yes</p>'],
    ['a rule for elements in others', '<style>.menu p, p > p, p:hover, p[x] {display:none}</style><p>yes</p>'],
    ['the whole page while it loads', '<style>body{visibility:hidden}</style><p>yes</p>'],
    ['a later rule', '<style>.a{display:none}.b{display:block}</style><p class="a b">yes</p>'],
    ['a more specific rule', '<style>div.a{display:block} div{display:none}</style><div class="a">yes</div>'],
    ['the element itself', '<style>.a{display:none}</style><p class="a" style="display:block">yes</p>'],
    ['an element that is shown again', '<div style="visibility:hidden"><p style="visibility:visible">yes</p></div>'],
    ['a size that is set again', '<div style="font-size:0"><p style="font-size:1rem">yes</p></div>'],
    ['half an opacity', '<p style="opacity:.5">yes</p>'],
    ['decoration for screen readers', '<p aria-hidden="true">yes</p>'],
    ['text for screen readers', '<style>.sr-only{position:absolute;width:1px}</style><p class="sr-only">yes</p>'],
    ['a keyframe', '<style>@keyframes x{from{opacity:0}to{opacity:1}} </style><p>yes</p>'],
  ])('is not taken for what is seen (%s)', (_, html) => {
    expect(textOf(`<p>before</p>${html}<p>after</p>`)).toBe('before\n\nyes\n\nafter')
  })

  it('does not take the structure of the text around it along', () => {
    expect(textOf('<ul><li>a<li hidden>b<li>c</ul><pre hidden>x\ny</pre><p>one  two</p>')).toBe('- a\n- c\n\none two')
  })
})
