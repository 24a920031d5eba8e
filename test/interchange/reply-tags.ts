/** What the HTML of a reply may consist of. */
const ALLOWED = [
  /^<\/?(?:p|h[456]|em|strong|del|code|ul|ol|li|blockquote|table|thead|tbody|tr|th|td)>$/,
  /^<hr>$/,
  /^<pre dir="auto">$/,
  /^<\/(?:pre|a)>$/,
  /^<ol start="\d{1,9}">$/,
  /^<a href="(?:https?:\/\/|mailto:)[^"<>\s]*" rel="noopener noreferrer">$/i,
]

/** Tags that no reply may have. */
export const strangeTags = (html: string): string[] =>
  tagsOf(html).filter((tag) => !ALLOWED.some((pattern) => pattern.test(tag)))

/** The first tag that closes what is not open, or what is left open; no link is within a link. */
export function unbalanced(html: string): string | undefined {
  const open: string[] = []
  for (const tag of tagsOf(html)) {
    const name = /^<\/?(\w+)/.exec(tag)?.[1] ?? ''
    if (tag === '<hr>') continue
    if (!tag.startsWith('</')) {
      if (name === 'a' && open.includes('a')) return tag
      open.push(name)
    } else if (open.pop() !== name) return tag
  }
  return open[0]
}

/** Every `<` begins a tag, because the text has none. */
const tagsOf = (html: string): string[] => html.match(/<[^>]*>?/g) ?? []
