/** The page's own style sheet. Colours come in pairs: light, dark. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--paper:light-dark(#fdfdfc,#16181c);--ink:light-dark(#1d1f23,#dfe2e7);--faint:light-dark(#62676f,#9097a1);
--line:light-dark(#e2e3e1,#2c3037);--box:light-dark(#f4f4f1,#1e2127);--link:light-dark(#0b5fa5,#7db8ee);--bad:light-dark(#a4262c,#f08a86);
--hit:light-dark(#ffe27a,#6d5600)}
:root[data-theme=light]{color-scheme:light}
:root[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}
html{scroll-padding-top:4rem}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,sans-serif}
header{position:sticky;top:0;z-index:1;display:flex;gap:.75rem;align-items:center;padding:.5rem 1rem;background:var(--paper);border-bottom:1px solid var(--line)}
h1{flex:1;min-width:0;margin:0;font-size:1.05rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
h2{margin:2.5rem 0 .5rem;font-size:1.3rem}
h3{margin:0;font-size:1rem}
button,input{font:inherit;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:.4rem;padding:.2rem .6rem}
input{width:14rem;max-width:32vw}
:focus-visible{outline:2px solid var(--link);outline-offset:1px}
.layout{display:grid;grid-template-columns:17rem minmax(0,1fr);max-width:76rem;margin:0 auto}
nav{position:sticky;top:3.4rem;align-self:start;max-height:calc(100vh - 3.4rem);overflow:auto;padding:1rem;font-size:.875rem}
nav ol{margin:0 0 1rem;padding:0;list-style:none}
nav p{margin:0 0 .3rem;font-weight:600}
nav a{display:flex;gap:.5rem;padding:.15rem .4rem;border-radius:.3rem;color:inherit;text-decoration:none}
nav a:hover,nav a[aria-current]{background:var(--box)}
nav a span:first-child{min-width:1.2rem;text-align:right}
nav a span:last-child{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
nav a span:first-child,.notes,dt,footer{color:var(--faint)}
main{min-width:0;padding:0 1.25rem 4rem}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.1rem 1rem;margin:1rem 0;font-size:.875rem}
dd{margin:0;overflow-wrap:anywhere}
article{margin:1.5rem 0;padding-top:1rem;border-top:1px solid var(--line)}
article article{margin:1rem 0}
.notes{margin:0 0 .75rem;font-size:.8rem}
.prompt,.error,pre{white-space:pre-wrap}
.prompt,.remark,.reply,.error,pre{overflow-wrap:anywhere;unicode-bidi:isolate}
.prompt{margin:.75rem 0;padding:.6rem .9rem;background:var(--box);border-left:3px solid var(--link);border-radius:.3rem}
.remark,.reply{margin:.75rem 0}
:is(.remark,.reply)>:first-child{margin-top:0}
p,h4,h5,h6,li{white-space:pre-line}
p,ul,ol,blockquote,table{margin:.6rem 0}
h4,h5,h6{margin:1.1rem 0 .4rem;font-size:1.1rem}
h5,h6{font-size:1rem}
li>:is(ul,ol){margin:0}
.reply a,.remark a{color:var(--link)}
code{padding:.1em .3em;background:var(--box);border-radius:.25rem;font:.875em ui-monospace,monospace}
blockquote{margin-left:0;padding-left:.9rem;border-left:3px solid var(--line);color:var(--faint)}
table{display:block;overflow-x:auto;border-collapse:collapse}
th,td{padding:.2rem .7rem;border:1px solid var(--line);text-align:start;overflow-wrap:normal}
hr{border:0;border-top:1px solid var(--line)}
.error,.failed{color:var(--bad)}
.missing{padding:.6rem .9rem;border:1px solid var(--line);border-radius:.3rem}
details{margin:.25rem 0;border:1px solid var(--line);border-radius:.4rem;font-size:.875rem}
details>:not(summary){margin-left:.8rem;margin-right:.8rem}
summary{padding:.25rem .8rem;cursor:pointer;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
summary b{margin-right:.5rem}
pre{margin:.5rem 0;padding:.6rem .8rem;max-height:28rem;overflow:auto;background:var(--box);border-radius:.3rem;font:.8rem/1.5 ui-monospace,monospace}
footer{margin-top:3rem;font-size:.8rem}
[hidden]{display:none!important}
::highlight(found){background:var(--hit)}
@media (max-width:48rem){.layout{display:block}nav{position:static;max-height:none}header{flex-wrap:wrap}h1{flex-basis:100%}}
@media print{header,nav{display:none}.layout{display:block}pre{max-height:none}}
`
