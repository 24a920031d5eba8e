export interface Branch {
  /** Already safe, already painted. */
  label: string
  branches: readonly Branch[]
}

/** A tree drawn with box lines, one line per branch. */
export function drawBranches(roots: readonly Branch[]): string {
  return roots.flatMap((root) => [root.label, ...below(root, '')]).join('\n')
}

function below({ branches }: Branch, indent: string): string[] {
  return branches.flatMap((branch, at) => {
    const isLast = at === branches.length - 1
    return [`${indent}${isLast ? '└─ ' : '├─ '}${branch.label}`, ...below(branch, indent + (isLast ? '   ' : '│  '))]
  })
}
