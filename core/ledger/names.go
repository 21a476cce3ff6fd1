package ledger

import "fmt"

// namesTable is one of the two tables that count names for each origin.
type namesTable struct{ add, drop string }

var (
	folderTable = countingTable("folders", "path", "named")
	skillTable  = countingTable("skills", "skill", "runs")
)

func countingTable(table, name, count string) namesTable {
	return namesTable{
		add: fmt.Sprintf(`INSERT INTO %s (origin, %s, %s) SELECT ?1, value ->> 0, value ->> 1 FROM json_each(?2) WHERE true
			ON CONFLICT (origin, %s) DO UPDATE SET %s = excluded.%s WHERE %s <> excluded.%s`,
			table, name, count, name, count, count, count, count),
		drop: fmt.Sprintf(`DELETE FROM %s WHERE origin = ?1 AND %s NOT IN (SELECT value ->> 0 FROM json_each(?2))`, table, name),
	}
}

// names makes the table hold exactly these counts for the origin.
func (t *turning) names(o *origin, fresh bool, table *namesTable, counts map[string]int64) error {
	list := jsonCounts(counts)
	if !fresh {
		if _, err := t.exec(table.drop, o.id, list); err != nil {
			return err
		}
	}
	if len(counts) == 0 {
		return nil
	}
	_, err := t.exec(table.add, o.id, list)
	return err
}
