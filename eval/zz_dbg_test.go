package eval
import ("testing";"os";"fmt")
func TestDbg(t *testing.T) {
	if os.Getenv("DBG")=="" { t.Skip("DBG") }
	w := corpusWorld(t)
	r,_ := w.rules()
	a := w.parse(os.Getenv("DBG"))
	for i := range a.Commands {
		v := newView(r,&a,i)
		fmt.Println(i, v.line.name, v.line.kinds)
		for k := range v.targets() { x := &v.accesses[k]; v.resolve(x); fmt.Println("  ", x.kind, x.path, x.real, v.recoverable(x), v.isScratch(x.path)) }
		d := r.Judge(&a,i)
		fmt.Println("  ", d.Action, d.Rule, d.Matched, d.Loss)
	}
	fmt.Println(r.JudgeUnknown(&a))
}
